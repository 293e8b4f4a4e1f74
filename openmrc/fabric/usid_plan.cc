// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/usid_plan.h"

#include "openmrc/base/check.h"

namespace openmrc::fabric {
namespace {

using wire::Ipv6Address;
using wire::Usid;
using wire::UsidCarrier;
using Kind = Segment::Kind;

constexpr unsigned kPlaneBits = 4;
constexpr std::uint32_t kPlaneMask = kPlanesMax - 1;
static_assert(kPlanesMax == 1U << kPlaneBits);

// What the bits above the plane begin with.
constexpr std::uint32_t kT0First = 0x4000;
constexpr std::uint32_t kT1First = 0x8000;
constexpr std::uint32_t kHostFirst = 0xc000;
constexpr std::uint32_t kHostLast = 0xdfff;
static_assert(kT0First + (kRacksMax << kPlaneBits) == kT1First);
static_assert(kT1First + (kUplinksMax << kPlaneBits) == kHostFirst);
static_assert(kHostFirst + (kHostsPerRackMax << kPlaneBits) == kHostLast + 1);

constexpr std::uint32_t first_of(Kind kind) {
  switch (kind) {
    case Kind::kT0: return kT0First;
    case Kind::kT1: return kT1First;
    case Kind::kHost: break;
  }
  return kHostFirst;
}

// The ULA prefix is drawn from nothing: 4d 52 43 spells MRC.
constexpr Ipv6Address kInnerPrefix = Ipv6Address::of({0xfd4d, 0x5243, 0, 0, 0, 0, 0, 0});
constexpr std::size_t kInnerPlaneGroup = 3;
constexpr std::size_t kInnerRackGroup = 6;
constexpr std::size_t kInnerDownlinkGroup = 7;

std::uint16_t group(std::uint32_t value) {
  OPENMRC_DCHECK(value <= 0xffff, "wider than a group of an address");
  return static_cast<std::uint16_t>(value);
}

}  // namespace

Usid usid_of(const Segment& segment) {
  OPENMRC_DCHECK(segment.plane.raw() < kPlanesMax, "no such plane");
  OPENMRC_DCHECK(segment.index < (segment.kind == Kind::kHost ? kHostsPerRackMax : kRacksMax),
                 "index is wider than the plan");
  return Usid(group(first_of(segment.kind) + (segment.index << kPlaneBits) + segment.plane.raw()));
}

std::optional<Segment> segment_of(Usid usid) {
  const std::uint32_t raw = usid.raw();
  if (raw < kT0First || raw > kHostLast) return std::nullopt;
  const Kind kind = raw < kT1First ? Kind::kT0 : raw < kHostFirst ? Kind::kT1 : Kind::kHost;
  return Segment{.kind = kind,
                 .plane = Plane(static_cast<std::uint8_t>(raw & kPlaneMask)),
                 .index = (raw - first_of(kind)) >> kPlaneBits};
}

UsidCarrier::List UsidPlan::usids(const Route& route) const {
  const Plane plane = route.choice.plane;
  UsidCarrier::List list{usid_of({Kind::kT0, plane, route.source_rack})};
  if (route.reach == Reach::kOtherRack) {
    list.push_back(usid_of({Kind::kT1, plane, route.choice.path}));
    list.push_back(usid_of({Kind::kT0, plane, fabric_.rack_of(route.destination)}));
  }
  list.push_back(usid_of({Kind::kHost, plane, fabric_.downlink_of(route.destination)}));
  return list;
}

UsidCarrier UsidPlan::make(const UsidCarrier::List& usids) const {
  const auto carrier = UsidCarrier::of(block_, usids);
  OPENMRC_CHECK(carrier, "a path has at most four uSIDs, and none is zero");
  return *carrier;
}

UsidCarrier UsidPlan::carrier(HostIndex source, HostIndex destination, PathChoice choice) const {
  OPENMRC_DCHECK(fabric_.has(source) && fabric_.has(destination), "no such host");
  OPENMRC_DCHECK(fabric_.has(choice), "no such path");
  return make(usids({.source_rack = fabric_.rack_of(source),
                     .destination = destination,
                     .choice = choice,
                     .reach = reach(source, destination)}));
}

// The path from rack 0 to the first host of rack 0: all that belongs to the ends is zero.
Ipv6Address UsidPlan::ev_part(PathChoice choice, Reach reach) const {
  OPENMRC_DCHECK(fabric_.has(choice), "no such path");
  return make(
             usids(
                 {.source_rack = 0, .destination = HostIndex(0), .choice = choice, .reach = reach}))
      .address();
}

// What differs between a path of plane 0, uplink 0 and the EV's part of it.
Ipv6Address UsidPlan::overlay(HostIndex source, HostIndex destination) const {
  const Ipv6Address whole = carrier(source, destination, {}).address();
  const Ipv6Address common = ev_part({}, reach(source, destination));
  Ipv6Address difference;
  for (std::size_t i = 0; i < whole.bytes.size(); ++i) {
    difference.bytes[i] = whole.bytes[i] ^ common.bytes[i];
  }
  return difference;
}

std::optional<Route> UsidPlan::route_of(const UsidCarrier& carrier) const {
  const Shape& shape = fabric_.shape();
  const UsidCarrier::List list = carrier.remaining();
  if (list.size() != 2 && list.size() != 4) return std::nullopt;
  Route route{.reach = list.size() == 2 ? Reach::kOwnRack : Reach::kOtherRack};
  const auto first = segment_of(list[0]);
  const auto last_switch = segment_of(list[list.size() - 2]);
  const auto host = segment_of(list[list.size() - 1]);
  if (!first || !last_switch || !host || first->plane.raw() >= shape.planes) return std::nullopt;
  if (first->index >= shape.racks || last_switch->index >= shape.racks) return std::nullopt;
  if (host->index >= shape.hosts_per_rack) return std::nullopt;
  route.source_rack = first->index;
  route.destination = fabric_.host_at(last_switch->index, host->index);
  route.choice.plane = first->plane;
  if (route.reach == Reach::kOtherRack) {
    const auto t1 = segment_of(list[1]);
    if (!t1 || t1->index >= shape.uplinks || first->index == last_switch->index) {
      return std::nullopt;
    }
    route.choice.path = group(t1->index);
  }
  // Kinds, planes, block and the zeros behind are right if the same carrier comes out again.
  if (make(usids(route)) != carrier) return std::nullopt;
  return route;
}

Ipv6Address UsidPlan::inner_address(HostIndex host, Plane plane) const {
  OPENMRC_DCHECK(fabric_.has(host) && plane.raw() < fabric_.shape().planes, "no such port");
  Ipv6Address address = kInnerPrefix;
  address.set_group(kInnerPlaneGroup, plane.raw());
  address.set_group(kInnerRackGroup, group(fabric_.rack_of(host)));
  address.set_group(kInnerDownlinkGroup, group(fabric_.downlink_of(host) + 1));
  return address;
}

std::optional<NicPort> UsidPlan::port_of(const Ipv6Address& inner) const {
  const Shape& shape = fabric_.shape();
  const std::uint32_t plane = inner.group(kInnerPlaneGroup);
  const std::uint32_t rack = inner.group(kInnerRackGroup);
  const std::uint32_t interface = inner.group(kInnerDownlinkGroup);
  if (plane >= shape.planes || rack >= shape.racks) return std::nullopt;
  if (interface == 0 || interface > shape.hosts_per_rack) return std::nullopt;
  const NicPort port{.host = fabric_.host_at(rack, interface - 1),
                     .plane = Plane(static_cast<std::uint8_t>(plane))};
  if (inner_address(port.host, port.plane) != inner) return std::nullopt;
  return port;
}

}  // namespace openmrc::fabric
