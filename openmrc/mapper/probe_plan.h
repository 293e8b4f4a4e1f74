// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "openmrc/base/ids.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/fabric/usid_plan.h"
#include "openmrc/mapper/probe.h"
#include "openmrc/wire/field/usid.h"

namespace openmrc::mapper {

// Racks whose T0s turn a host's far probes around. A few, so that one of them that is broken does
// not matter; the links over there are for the hosts over there to judge.
inline constexpr std::uint32_t kPartnersMax = 4;

// Which probes a host sends in which round, by arithmetic. In each plane and round
//
//   T0    host - T0 - host                               the host's own link, both directions
//   T1    host - T0 - T1 - T0 - host                     and one uplink of the T0
//   far   host - T0 - T1 x - far T0 - T1 y - T0 - host   uplink x out only, uplink y back only
//
// Host k of a rack begins with uplink k, so that a round of all hosts covers all uplinks; each goes
// on to the next one in the next round, so that no link depends on one host.
class ProbePlan {
 public:
  ProbePlan(const fabric::UsidPlan& plan, fabric::HostIndex host) : plan_(plan), host_(host) {}

  [[nodiscard]] const fabric::Fabric& fabric() const { return plan_.fabric(); }
  [[nodiscard]] fabric::HostIndex host() const { return host_; }
  [[nodiscard]] std::uint32_t rack() const { return fabric().rack_of(host_); }
  [[nodiscard]] std::uint32_t planes() const { return fabric().shape().planes; }
  [[nodiscard]] std::uint32_t uplinks() const { return fabric().shape().uplinks; }

  // The uplink by which probes leave the rack in a round; there is one.
  [[nodiscard]] std::uint32_t uplink_of(std::uint64_t round, Plane plane) const {
    return static_cast<std::uint32_t>(turn_of(round, plane) % uplinks());
  }
  // Nothing if the fabric has no such way: no T1, one rack, or one uplink, which a far probe would
  // cross in both directions.
  [[nodiscard]] std::optional<ProbePath> path(std::uint64_t round, Plane plane,
                                              ProbeKind kind) const;

  // The outer destination that takes a packet of this host along the path.
  [[nodiscard]] wire::UsidCarrier carrier(const ProbePath& path) const;

  [[nodiscard]] std::uint32_t partners() const;
  // Of 0 to partners() - 1.
  [[nodiscard]] std::uint32_t partner_rack(std::uint32_t partner) const;
  [[nodiscard]] std::uint32_t partner_of(std::uint32_t rack) const;

 private:
  [[nodiscard]] std::uint64_t turn_of(std::uint64_t round, Plane plane) const {
    return round + fabric().downlink_of(host_) + plane.raw();
  }
  [[nodiscard]] std::uint32_t partner_stride() const;

  fabric::UsidPlan plan_;
  fabric::HostIndex host_;
};

}  // namespace openmrc::mapper
