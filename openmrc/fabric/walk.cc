// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/walk.h"

#include <optional>

namespace openmrc::fabric {
namespace {

using Kind = Segment::Kind;

Segment own_segment(const SwitchId& id) {
  return {
      .kind = id.tier == Tier::kT0 ? Kind::kT0 : Kind::kT1, .plane = id.plane, .index = id.index};
}

// The entry of the switch's table for this uSID.
std::optional<LinkId> next_link(const Shape& shape, const SwitchId& at, const Segment& next) {
  if (next.plane != at.plane) return std::nullopt;
  if (at.tier == Tier::kT1) {
    if (next.kind != Kind::kT0 || next.index >= shape.racks) return std::nullopt;
    return LinkId{LinkId::Kind::kUplink, at.plane, next.index, at.index};
  }
  if (next.kind == Kind::kT1 && next.index < shape.uplinks) {
    return LinkId{LinkId::Kind::kUplink, at.plane, at.index, next.index};
  }
  if (next.kind == Kind::kHost && next.index < shape.hosts_per_rack) {
    return LinkId{LinkId::Kind::kHost, at.plane, at.index, next.index};
  }
  return std::nullopt;
}

}  // namespace

std::string_view describe(WalkFault fault) {
  switch (fault) {
    case WalkFault::kNotForThisSwitch: return "a switch does not find its own uSID in front";
    case WalkFault::kNoNextHop: return "a switch has no link for the next uSID";
    case WalkFault::kTooLong: return "the packet meets more switches than a path can have";
  }
  return "unknown walk fault";
}

Result<Walk, WalkFault> walk(const UsidPlan& plan, HostIndex source, Plane plane,
                             const wire::UsidCarrier& carrier) {
  const Fabric& fabric = plan.fabric();
  Walk result;
  SwitchId at = fabric.t0_of(source, plane);
  wire::UsidCarrier now = carrier;
  while (!result.steps.full()) {
    if (now.block() != plan.block() || segment_of(now.active()) != own_segment(at)) {
      return failure(WalkFault::kNotForThisSwitch);
    }
    const wire::UsidCarrier shifted = now.shift();
    const auto next = segment_of(shifted.active());
    const auto link = next ? next_link(fabric.shape(), at, *next) : std::nullopt;
    if (!link) return failure(WalkFault::kNoNextHop);
    result.steps.push_back({at, now.address(), shifted.address(), *link});
    if (link->kind == LinkId::Kind::kHost) {
      result.host = fabric.host_at(link->rack, link->port);
      result.delivered = shifted.address();
      return result;
    }
    at = at.tier == Tier::kT0 ? SwitchId{plane, Tier::kT1, link->port}
                              : SwitchId{plane, Tier::kT0, link->rack};
    now = shifted;
  }
  return failure(WalkFault::kTooLong);
}

}  // namespace openmrc::fabric
