// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/permutation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "openmrc/sim/workload/ideal_network.h"

namespace openmrc::sim {
namespace {

void expect_permutation_across(const std::vector<std::uint32_t>& to, std::uint32_t group) {
  std::vector<bool> reached(to.size());
  std::size_t at_home = 0;
  for (std::uint32_t i = 0; i < to.size(); ++i) {
    reached.at(to[i]) = true;
    if (to[i] / group == i / group) ++at_home;
  }
  EXPECT_TRUE(std::ranges::all_of(reached, [](bool r) { return r; }));
  EXPECT_EQ(at_home, 0U);
}

TEST(PermutationAcross, LeavesNobodyInItsGroup) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    expect_permutation_across(permutation_across(2, 1, Rng(seed)), 1);
    expect_permutation_across(permutation_across(3, 1, Rng(seed)), 1);
    expect_permutation_across(permutation_across(64, 1, Rng(seed)), 1);
    expect_permutation_across(permutation_across(64, 32, Rng(seed)), 32);
    expect_permutation_across(permutation_across(63, 21, Rng(seed)), 21);
  }
}

// The published fabric, and the hardest case for the repair: two groups.
TEST(PermutationAcross, IsQuickForManyHosts) {
  expect_permutation_across(permutation_across(131'072, 256, Rng(1)), 256);
  expect_permutation_across(permutation_across(131'072, 65'536, Rng(1)), 65'536);
}

TEST(PermutationAcross, IsAsRandomAsItCanBe) {
  // Of four, nine permutations move everybody.
  std::map<std::vector<std::uint32_t>, int> seen;
  for (std::uint64_t seed = 0; seed < 900; ++seed) ++seen[permutation_across(4, 1, Rng(seed))];
  EXPECT_EQ(seen.size(), 9U);
  for (const auto& [to, times] : seen) EXPECT_GT(times, 50);
}

TEST(PermutationWorkload, SendsAllMessagesOneAfterTheOther) {
  const fabric::Fabric fabric = plain_fabric(4, 8);
  const auto workload = make_workload(Permutation{.bytes = 1'000, .messages = 3}, fabric, 7);
  IdealNetwork network(*workload, fabric.hosts(), 1);
  network.run();
  EXPECT_TRUE(network.all_done());
  EXPECT_EQ(network.sent_to_unknown_hosts(), 0U);
  EXPECT_EQ(network.messages().size(), 3U * 32);
  EXPECT_EQ(network.outstanding_max(), 1U);
  for (std::uint32_t host = 0; host < fabric.hosts(); ++host) {
    EXPECT_EQ(network.bytes_from(host), 3'000U);
    EXPECT_EQ(network.bytes_to(host), 3'000U);
  }
}

TEST(PermutationWorkload, IsFixedByTheSeed) {
  const fabric::Fabric fabric = plain_fabric(4, 8);
  const auto pairs = [&](std::uint64_t seed) {
    const auto workload = make_workload(Permutation{.bytes = 1}, fabric, seed);
    std::vector<fabric::HostIndex> to;
    for (std::uint32_t host = 0; host < fabric.hosts(); ++host) {
      to.push_back(workload->destinations(fabric::HostIndex(host)).at(0));
    }
    return to;
  };
  EXPECT_EQ(pairs(7), pairs(7));
  EXPECT_NE(pairs(7), pairs(8));
}

TEST(PermutationWorkload, CanCrossRacksOnly) {
  const fabric::Fabric fabric = plain_fabric(2, 16);
  const auto workload = make_workload(Permutation{.bytes = 1, .across_racks = true}, fabric, 7);
  for (std::uint32_t host = 0; host < fabric.hosts(); ++host) {
    const fabric::HostIndex to = workload->destinations(fabric::HostIndex(host)).at(0);
    EXPECT_NE(fabric.rack_of(to), fabric.rack_of(fabric::HostIndex(host)));
  }
}

TEST(PermutationWorkload, IsCheckedAgainstTheFabric) {
  const fabric::Fabric fabric = plain_fabric(1, 2);
  EXPECT_EQ(check_workload(Permutation{.bytes = 1}, fabric), "");
  EXPECT_EQ(check_workload(Permutation{}, fabric), "bytes must be above 0");
  EXPECT_EQ(check_workload(Permutation{.bytes = 1, .messages = 0}, fabric),
            "messages must be above 0");
  EXPECT_EQ(check_workload(Permutation{.bytes = 1, .across_racks = true}, fabric),
            "across_racks needs two racks");
  EXPECT_EQ(check_workload(Permutation{.bytes = 1}, plain_fabric(1, 1)),
            "a permutation needs two hosts");
}

}  // namespace
}  // namespace openmrc::sim
