// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/ids.h"
#include "openmrc/base/picoseconds.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/network/network.h"
#include "openmrc/sim/network/routing.h"

namespace openmrc::sim {

// What a switch hashes to choose among equal paths.
struct EcmpFlow {
  fabric::HostIndex from{};
  fabric::HostIndex to{};
  Qpn qpn{};  // the sender's
};

// Routing as RoCEv2 finds it: all packets of a flow take the one path that its hash names, whoever
// else is there. When a link has been down for a while, the flows that hash to it are spread over
// the paths that are left. It does not change during a run, so every thread may ask.
class Ecmp {
 public:
  Ecmp(const Network& network, Picoseconds reroute_after);

  // The plane whose port a queue pair is bound to; both of its ends use it.
  [[nodiscard]] Plane plane(const EcmpFlow& flow) const;
  // fabric::PathChoice::path
  [[nodiscard]] std::uint16_t path(const EcmpFlow& flow, Plane plane, Picoseconds now) const;
  // Until then no path changes.
  [[nodiscard]] Picoseconds next_change(Picoseconds now) const { return routing_.next_change(now); }

 private:
  [[nodiscard]] std::uint64_t hash(const EcmpFlow& flow) const;

  const Network& network_;
  Routing routing_;
};

// The path of one flow, looked up again only when it may have changed.
class EcmpPath {
 public:
  // `ecmp` outlives it.
  EcmpPath(const Ecmp& ecmp, const EcmpFlow& flow, Plane plane)
      : ecmp_(&ecmp), flow_(flow), plane_(plane) {}

  [[nodiscard]] fabric::HostIndex to() const { return flow_.to; }
  [[nodiscard]] Plane plane() const { return plane_; }
  [[nodiscard]] std::uint16_t number(Picoseconds now) {
    if (now >= valid_until_) {
      number_ = ecmp_->path(flow_, plane_, now);
      valid_until_ = ecmp_->next_change(now);
    }
    return number_;
  }

 private:
  const Ecmp* ecmp_;
  EcmpFlow flow_;
  Picoseconds valid_until_{};
  std::uint16_t number_ = 0;
  Plane plane_;
};

}  // namespace openmrc::sim
