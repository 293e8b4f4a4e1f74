// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "openmrc/base/ids.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/fabric/names.h"
#include "openmrc/wire/field/ip_address.h"
#include "openmrc/wire/field/usid.h"

// Who has which address. Which bits of a uSID mean what in the fabrics that exist is not public;
// this plan is ours (docs/protocol/paths.md). A uSID is one of
//
//    15 14 13               4 3     0
//   +-----+------------------+-------+
//   | 0 1 | rack (10)         | plane |   a T0, in all of its plane
//   | 1 0 | number (10)      | plane |   a T1, in all of its plane
//   +-----+-+----------------+-------+
//   | 1 1 0 | downlink (9)   | plane |   a host, at its T0 only
//   +-------+----------------+-------+
//
// so that the plane is the last hex digit of every uSID, and 0x4113 is rack 17 of plane 3. All lie
// between 0x4000 and 0xdfff: none is zero, and all are in what switches by default take for
// global (0x0001 to 0xdfff).
namespace openmrc::fabric {

inline constexpr std::uint32_t kUsidBlockDefault = 0xfcbb'bb00;  // fcbb:bb00::/32

struct Segment {
  enum class Kind : std::uint8_t { kT0, kT1, kHost };
  Kind kind = Kind::kT0;
  Plane plane{};
  std::uint32_t index = 0;  // rack, number or downlink

  auto operator<=>(const Segment&) const = default;
};
wire::Usid usid_of(const Segment& segment);
// Nothing if it is outside the plan; what it names need not exist.
std::optional<Segment> segment_of(wire::Usid usid);

// Paths have two forms: T0 and host within a rack, T0, T1, T0 and host between racks. They take
// different bits of the outer address, so a sender has one EV profile for each.
enum class Reach : std::uint8_t { kOwnRack, kOtherRack };

// All that a complete outer address says.
struct Route {
  std::uint32_t source_rack = 0;
  HostIndex destination{};
  PathChoice choice{};  // uplink 0 within a rack
  Reach reach = Reach::kOwnRack;

  auto operator<=>(const Route&) const = default;
};

// PATH-81, PATH-82, PATH-86
class UsidPlan {
 public:
  explicit UsidPlan(const Fabric& fabric, std::uint32_t block = kUsidBlockDefault)
      : fabric_(fabric), block_(block) {}

  [[nodiscard]] const Fabric& fabric() const { return fabric_; }
  [[nodiscard]] std::uint32_t block() const { return block_; }
  [[nodiscard]] Reach reach(HostIndex source, HostIndex destination) const {
    return fabric_.rack_of(source) == fabric_.rack_of(destination) ? Reach::kOwnRack
                                                                   : Reach::kOtherRack;
  }

  // The outer destination of a path as its sender writes it.
  [[nodiscard]] wire::UsidCarrier carrier(HostIndex source, HostIndex destination,
                                          PathChoice choice) const;

  // MRC 9.3.5: the same in two parts, whose ones together are the carrier's: what an EV gives to
  // paths between all hosts (an EV of a profile), and what the two ends give to all paths between
  // them (the queue pair's overlay). Each is zero where the other has something to say.
  // PATH-84, PATH-85
  [[nodiscard]] wire::Ipv6Address ev_part(PathChoice choice, Reach reach) const;
  [[nodiscard]] wire::Ipv6Address overlay(HostIndex source, HostIndex destination) const;

  // What the carrier was made of; nothing if no path of this fabric has it.
  [[nodiscard]] std::optional<Route> route_of(const wire::UsidCarrier& carrier) const;

  // The host's own address in a plane, source and destination of the inner header:
  // fd4d:5243:0:<plane>::<rack>:<downlink + 1>. A rack is a /112, so that templates can be kept by
  // rack; interface number 0 would be the routers' anycast address (RFC 4291).
  [[nodiscard]] wire::Ipv6Address inner_address(HostIndex host, Plane plane) const;
  [[nodiscard]] std::optional<NicPort> port_of(const wire::Ipv6Address& inner) const;

 private:
  [[nodiscard]] wire::UsidCarrier::List usids(const Route& route) const;
  [[nodiscard]] wire::UsidCarrier make(const wire::UsidCarrier::List& usids) const;

  Fabric fabric_;
  std::uint32_t block_;
};

}  // namespace openmrc::fabric
