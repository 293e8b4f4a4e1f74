// SPDX-License-Identifier: BSD-3-Clause
// The uSID plan in the terms of the core: EVs of a profile, and the overlay of a queue pair.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/fabric/path.h"
#include "openmrc/fabric/usid_plan.h"

namespace openmrc {
namespace {

using core::EvProfile;
using fabric::Fabric;
using fabric::HostIndex;
using fabric::PathChoice;
using fabric::Reach;
using fabric::UsidPlan;

core::EvFormat one_address() {
  return {.mode = core::EvFormatMode::kSrv6, .slot_widths = {16, 16, 16, 16, 16, 16, 16, 16}};
}

EvProfile profile_of(const UsidPlan& plan, Reach reach) {
  const Fabric& fabric = plan.fabric();
  std::vector<core::PortedEv> evs;
  for (std::uint32_t number = 0; number < fabric.evs(); ++number) {
    const PathChoice choice = ev_choice(fabric, number);
    if (reach == Reach::kOwnRack && choice.path > 0) continue;
    core::PortedEv ev{.value = {}, .port = port_of(choice.plane)};
    std::ranges::copy(plan.ev_part(choice, reach).bytes, ev.value.begin());
    evs.push_back(ev);
  }
  return EvProfile::explicit_list(
             {.format = one_address(), .evs = evs, .planes = fabric.shape().planes})
      .value();
}

wire::Ipv6Address joined(wire::Ipv6Address a, const wire::Ipv6Address& b) {
  for (std::size_t i = 0; i < a.bytes.size(); ++i) a.bytes[i] |= b.bytes[i];
  return a;
}

// MRC 9.3.5
TEST(FabricProfile, OneProfileServesAllHostsOfOtherRacks) {
  const UsidPlan plan(
      Fabric::make({.planes = 8, .racks = 64, .hosts_per_rack = 32, .uplinks = 32}).value());
  const EvProfile profile = profile_of(plan, Reach::kOtherRack);
  ASSERT_EQ(profile.size(), 256) << "as many as a profile holds";
  ASSERT_EQ(profile.evs_per_plane(), 32);
  const HostIndex source(17);
  for (std::uint32_t host = 32; host < plan.fabric().hosts(); host += 13) {
    const wire::Ipv6Address overlay = plan.overlay(source, HostIndex(host));
    for (std::size_t i = 0; i < profile.size(); ++i) {
      const core::EvEntry& entry = profile.entries()[i];
      const auto choice = ev_choice(plan.fabric(), static_cast<std::uint32_t>(i));
      EXPECT_EQ(entry.plane, choice.plane);
      EXPECT_EQ(joined(entry.outer, overlay),
                plan.carrier(source, HostIndex(host), choice).address());
    }
  }
}

TEST(FabricProfile, TheOwnRackHasOneEvInEachPlane) {
  const UsidPlan plan(
      Fabric::make({.planes = 8, .racks = 64, .hosts_per_rack = 32, .uplinks = 32}).value());
  const EvProfile profile = profile_of(plan, Reach::kOwnRack);
  ASSERT_EQ(profile.size(), 8);
  const wire::Ipv6Address overlay = plan.overlay(HostIndex(33), HostIndex(63));
  for (const core::EvEntry& entry : profile.entries()) {
    const auto route = plan.route_of(wire::UsidCarrier(joined(entry.outer, overlay)));
    ASSERT_TRUE(route);
    EXPECT_EQ(route->destination, HostIndex(63));
    EXPECT_EQ(route->source_rack, 1);
    EXPECT_EQ(route->choice.plane, entry.plane);
  }
}

}  // namespace
}  // namespace openmrc
