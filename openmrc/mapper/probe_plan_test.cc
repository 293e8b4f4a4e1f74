// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/probe_plan.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "openmrc/fabric/names.h"
#include "openmrc/mapper/test_network.h"

namespace openmrc::mapper {
namespace {

using fabric::HostIndex;
using fabric::Shape;
using fabric::SwitchId;
using fabric::Tier;

ProbePlan plan_for(const Shape& shape, std::uint32_t host) {
  return ProbePlan(test::plan_of(shape), HostIndex(host));
}

std::string address(const ProbePlan& plan, const ProbePath& path) {
  return to_string(plan.carrier(path).address());
}

TEST(ProbePlan, NamesEverySwitchAndTheHostItself) {
  const ProbePlan plan = plan_for({.planes = 4, .racks = 3, .hosts_per_rack = 2, .uplinks = 2}, 3);
  const Plane plane(2);
  EXPECT_EQ(address(plan, {.kind = ProbeKind::kT0, .plane = plane}), "fcbb:bb00:4012:c012::");
  EXPECT_EQ(address(plan, {.kind = ProbeKind::kT1, .plane = plane, .out = 1, .back = 1}),
            "fcbb:bb00:4012:8012:4012:c012::");
  EXPECT_EQ(address(plan, {.kind = ProbeKind::kFar, .plane = plane, .out = 1, .far_rack = 2}),
            "fcbb:bb00:4012:8012:4022:8002:4012:c012");
}

TEST(ProbePlan, ARoundOfARackCoversEveryUplinkOnce) {
  const Shape shape{.planes = 2, .racks = 8, .hosts_per_rack = 16, .uplinks = 16};
  for (const std::uint64_t round : {0u, 1u, 77u}) {
    std::multiset<std::uint16_t> uplinks;
    for (std::uint32_t host = 16; host < 32; ++host) {
      uplinks.insert(plan_for(shape, host).path(round, Plane(1), ProbeKind::kT1)->out);
    }
    EXPECT_EQ(uplinks.size(), std::set(uplinks.begin(), uplinks.end()).size());
  }
}

// Of each uplink as many probes go out as come back, with each partner and each other uplink.
TEST(ProbePlan, FarProbesTellDirectionsApart) {
  const Shape shape{.planes = 1, .racks = 9, .hosts_per_rack = 4, .uplinks = 4};
  const ProbePlan plan = plan_for(shape, 5);
  ASSERT_EQ(plan.partners(), 4u);
  std::map<std::tuple<int, int, int>, int> seen;
  constexpr int kLaps = 4 * 3;  // partners, other uplinks
  for (std::uint64_t round = 0; round < 4 * kLaps; ++round) {
    const auto path = plan.path(round, Plane(0), ProbeKind::kFar);
    ASSERT_TRUE(path);
    EXPECT_NE(path->out, path->back);
    EXPECT_NE(path->far_rack, plan.rack());
    EXPECT_EQ(plan.partner_rack(plan.partner_of(path->far_rack)), path->far_rack);
    ++seen[{path->out, path->far_rack, path->back}];
  }
  EXPECT_EQ(seen.size(), 4u * 4 * 3);
}

TEST(ProbePlan, HasPartnersInEveryFabricThatAllowsIt) {
  for (std::uint32_t racks = 2; racks < 40; ++racks) {
    for (std::uint32_t rack = 0; rack < racks; ++rack) {
      const ProbePlan plan =
          plan_for({.planes = 1, .racks = racks, .hosts_per_rack = 1, .uplinks = 2}, rack);
      std::set<std::uint32_t> partners;
      for (std::uint32_t i = 0; i < plan.partners(); ++i) {
        partners.insert(plan.partner_rack(i));
        EXPECT_EQ(plan.partner_of(plan.partner_rack(i)), i);
      }
      EXPECT_EQ(partners.size(), std::min(racks - 1, kPartnersMax));
      EXPECT_FALSE(partners.contains(rack));
    }
  }
}

TEST(ProbePlan, SendsNoProbeThatTheFabricHasNoWayFor) {
  const ProbePlan one_tier = plan_for({.planes = 1, .racks = 1, .hosts_per_rack = 4}, 0);
  EXPECT_TRUE(one_tier.path(0, Plane(0), ProbeKind::kT0));
  EXPECT_FALSE(one_tier.path(0, Plane(0), ProbeKind::kT1));
  EXPECT_FALSE(one_tier.path(0, Plane(0), ProbeKind::kFar));
  const ProbePlan one_uplink =
      plan_for({.planes = 1, .racks = 2, .hosts_per_rack = 1, .uplinks = 1}, 0);
  EXPECT_TRUE(one_uplink.path(0, Plane(0), ProbeKind::kT1));
  EXPECT_FALSE(one_uplink.path(0, Plane(0), ProbeKind::kFar));
}

}  // namespace
}  // namespace openmrc::mapper
