// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/profile/path_plan.h"

#include <gtest/gtest.h>

#include <set>

namespace openmrc::profile {
namespace {

std::set<std::uint32_t> evs_of(const core::EvProfile& profile) {
  std::set<std::uint32_t> evs;
  for (std::size_t i = 0; i < profile.size(); ++i) {
    evs.insert(profile.entry(core::EvIndex(static_cast<std::uint8_t>(i))).ev.raw());
  }
  return evs;
}

// MRC 9.3.3 (PATH-8)
TEST(PathPlan, OverIpv4AnEvIsASourcePort) {
  const PathOptions options{.evs = 64, .seed = 7};
  const PathPlan plan = PathPlan::hashed(2, options, wire::IpVersion::kV4);
  ASSERT_EQ(plan.profiles().size(), 1u);
  const core::EvProfile& profile = *plan.profiles()[0];
  EXPECT_EQ(profile.mode(), core::EvFormatMode::kUdp);
  EXPECT_EQ(profile.size(), 64u);
  EXPECT_EQ(profile.planes(), 2u);
  const auto evs = evs_of(profile);
  EXPECT_EQ(evs.size(), 64u) << "all different";
  EXPECT_GE(*evs.begin(), 49152u);
  EXPECT_LE(*evs.rbegin(), 65535u) << "no flow label";
}

TEST(PathPlan, OverIpv6AnEvIsAlsoAFlowLabel) {
  const PathPlan plan =
      PathPlan::hashed(2, PathOptions{.evs = 64, .seed = 7}, wire::IpVersion::kV6);
  EXPECT_EQ(plan.profiles()[0]->mode(), core::EvFormatMode::kStev);
  EXPECT_GT(*evs_of(*plan.profiles()[0]).rbegin(), 65535u);
}

}  // namespace
}  // namespace openmrc::profile
