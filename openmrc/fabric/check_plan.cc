// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/check_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/fabric/names.h"
#include "openmrc/fabric/path.h"
#include "openmrc/fabric/walk.h"

namespace openmrc::fabric {
namespace {

using Checked = Result<void, std::string>;
using Kind = Segment::Kind;

constexpr std::uint16_t kGlobalFirst = 0x0001;
constexpr std::uint16_t kGlobalLast = 0xdfff;

Plane plane_at(std::uint32_t number) { return Plane(static_cast<std::uint8_t>(number)); }

// The uSIDs that one switch must tell apart.
class UsidScope {
 public:
  Checked add(const Segment& segment) {
    const wire::Usid usid = usid_of(segment);
    if (usid.raw() < kGlobalFirst || usid.raw() > kGlobalLast) {
      return failure(fmt::format("uSID {:04x} is not in the range of global ones", usid.raw()));
    }
    if (segment_of(usid) != segment) {
      return failure(fmt::format("uSID {:04x} does not name what it was made of", usid.raw()));
    }
    if (taken_[usid.raw()]) return failure(fmt::format("uSID {:04x} names two things", usid.raw()));
    taken_[usid.raw()] = true;
    return {};
  }

 private:
  std::vector<bool> taken_ = std::vector<bool>(wire::Usid::kMax + 1);
};

Checked check_switch_usids(const Shape& shape, UsidScope& scope, CheckedPlan& checked) {
  for (std::uint32_t plane = 0; plane < shape.planes; ++plane) {
    for (std::uint32_t rack = 0; rack < shape.racks; ++rack, ++checked.switch_usids) {
      if (auto result = scope.add({Kind::kT0, plane_at(plane), rack}); !result) {
        return failure(std::move(result.error()));
      }
    }
    for (std::uint32_t t1 = 0; t1 < shape.uplinks; ++t1, ++checked.switch_usids) {
      if (auto result = scope.add({Kind::kT1, plane_at(plane), t1}); !result) {
        return failure(std::move(result.error()));
      }
    }
  }
  return {};
}

// `switches` has all that a packet may carry besides.
Checked check_host_usids(const Shape& shape, const UsidScope& switches, CheckedPlan& checked) {
  for (std::uint32_t t0 = 0; t0 < shape.planes * shape.racks; ++t0) {
    UsidScope scope = switches;
    for (std::uint32_t down = 0; down < shape.hosts_per_rack; ++down, ++checked.host_usids) {
      if (auto result = scope.add({Kind::kHost, plane_at(t0 / shape.racks), down}); !result) {
        return failure(std::move(result.error()));
      }
    }
  }
  return {};
}

Checked check_inner_addresses(const UsidPlan& plan, CheckedPlan& checked) {
  const Fabric& fabric = plan.fabric();
  for (std::uint32_t host = 0; host < fabric.hosts(); ++host) {
    for (std::uint32_t plane = 0; plane < fabric.shape().planes; ++plane) {
      const NicPort port{HostIndex(host), plane_at(plane)};
      if (plan.port_of(plan.inner_address(port.host, port.plane)) != port) {
        return failure(
            fmt::format("the inner address of {} does not lead back to it", name_of(port)));
      }
      ++checked.inner_addresses;
    }
  }
  return {};
}

// A sender, a receiver and an EV.
struct Trip {
  HostIndex source{};
  HostIndex destination{};
  PathChoice choice{};
};

bool lies_in(const Path& path, Plane plane) {
  const auto in_plane = [&](const auto& id) { return id.plane == plane; };
  return std::ranges::all_of(path.switches, in_plane) && std::ranges::all_of(path.links, in_plane);
}

bool follows(const Walk& walk, const Path& path) {
  if (walk.steps.size() != path.switches.size()) return false;
  for (std::size_t i = 0; i < walk.steps.size(); ++i) {
    if (walk.steps[i].at != path.switches[i] || walk.steps[i].out != path.links[i + 1]) {
      return false;
    }
  }
  return true;
}

bool adds_up(const UsidPlan& plan, const Trip& trip, const wire::UsidCarrier& carrier) {
  const auto common = plan.ev_part(trip.choice, plan.reach(trip.source, trip.destination)).bytes;
  const auto ends = plan.overlay(trip.source, trip.destination).bytes;
  for (std::size_t i = 0; i < common.size(); ++i) {
    if ((common[i] | ends[i]) != carrier.address().bytes[i]) return false;
    if ((common[i] & ends[i]) != std::byte{0}) return false;
  }
  return true;
}

Route route_of(const UsidPlan& plan, const Trip& trip) {
  const Reach reach = plan.reach(trip.source, trip.destination);
  PathChoice choice = trip.choice;
  if (reach == Reach::kOwnRack) choice.path = 0;
  return {.source_rack = plan.fabric().rack_of(trip.source),
          .destination = trip.destination,
          .choice = choice,
          .reach = reach};
}

Result<void, std::string_view> check_path(const UsidPlan& plan, const Trip& trip,
                                          CheckedPlan& checked) {
  const Path path = path_between(plan.fabric(), trip.source, trip.destination, trip.choice);
  const wire::UsidCarrier carrier = plan.carrier(trip.source, trip.destination, trip.choice);
  if (path.switches.empty() || path.links.size() != path.switches.size() + 1) {
    return failure("is broken");
  }
  if (!lies_in(path, trip.choice.plane)) return failure("leaves its plane");
  const auto walked = walk(plan, trip.source, trip.choice.plane, carrier);
  if (!walked) return failure(describe(walked.error()));
  if (!follows(*walked, path)) return failure("is not the one that its carrier takes");
  if (walked->host != trip.destination) return failure("does not end at its destination");
  if (plan.fabric().shape().planes > 1) {
    const std::uint32_t other = (trip.choice.plane.raw() + 1U) % plan.fabric().shape().planes;
    if (walk(plan, trip.source, plane_at(other), carrier)) {
      return failure("exists in another plane too");
    }
  }
  if (!adds_up(plan, trip, carrier)) return failure("is not made of an EV and an overlay");
  if (plan.route_of(carrier) != route_of(plan, trip)) {
    return failure("cannot be read from its carrier");
  }
  ++checked.paths_by_switches[path.switches.size()];
  return {};
}

Checked check_paths(const UsidPlan& plan, std::uint64_t paths, Rng rng, CheckedPlan& checked) {
  const Fabric& fabric = plan.fabric();
  const auto any_host = [&] {
    return HostIndex(static_cast<std::uint32_t>(rng.below(fabric.hosts())));
  };
  for (; checked.paths < paths; ++checked.paths) {
    const HostIndex source = any_host();
    const HostIndex destination = any_host();
    const auto number = static_cast<std::uint32_t>(rng.below(fabric.evs()));
    const Trip trip{source, destination, ev_choice(fabric, number)};
    if (const auto path = check_path(plan, trip, checked); !path) {
      return failure(fmt::format("path from {} to {}, EV {}: {}", name_of(source),
                                 name_of(destination), name_of(trip.choice), path.error()));
    }
    if (ev_number(fabric, trip.choice) != number) {
      return failure(fmt::format("EV {} has two numbers", number));
    }
  }
  return {};
}

}  // namespace

Result<CheckedPlan, std::string> check_plan(const UsidPlan& plan, std::uint64_t paths,
                                            std::uint64_t seed) {
  const Shape& shape = plan.fabric().shape();
  CheckedPlan checked;
  UsidScope switches;
  Checked result = check_switch_usids(shape, switches, checked);
  if (result) result = check_host_usids(shape, switches, checked);
  if (result) result = check_inner_addresses(plan, checked);
  if (result) result = check_paths(plan, paths, Rng(seed), checked);
  if (!result) return failure(std::move(result.error()));
  return checked;
}

}  // namespace openmrc::fabric
