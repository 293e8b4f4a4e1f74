// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/moe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "openmrc/sim/workload/graph_checks.h"
#include "openmrc/sim/workload/ideal_network.h"

namespace openmrc::sim {
namespace {

MixtureOfExperts moe_job(std::uint32_t skew_billionths) {
  return {.hosts = 8,
          .steps = 2,
          .layers = 3,
          .bytes = 8'000,
          .compute = Picoseconds(100),
          .expert_compute = Picoseconds(50),
          .skew_billionths = skew_billionths};
}

TEST(MixtureOfExperts, SharesTokensEvenlyWithoutSkew) {
  const auto weights = expert_weights(moe_job(0), 0, 1);
  EXPECT_EQ(std::ranges::max(weights), std::ranges::min(weights));
  // To seven others and back: the experts answer with as much as they got.
  EXPECT_EQ(bytes_sent(moe_graph(moe_job(0), 1, 3)), 3U * 2 * 7 * 1'000);
}

TEST(MixtureOfExperts, WantsTheSecondExpertHalfAsOftenWithFullSkew) {
  auto weights = expert_weights(moe_job(1'000'000'000), 1, 1);
  std::ranges::sort(weights, std::greater<>());
  for (std::size_t i = 0; i < weights.size(); ++i) EXPECT_EQ(weights[i], weights[0] / (i + 1)) << i;
}

TEST(MixtureOfExperts, DrawsExpertsByLayerAndSeed) {
  const MixtureOfExperts settings = moe_job(1'000'000'000);
  EXPECT_EQ(expert_weights(settings, 2, 5), expert_weights(settings, 2, 5));
  EXPECT_NE(expert_weights(settings, 2, 5), expert_weights(settings, 1, 5));
  EXPECT_NE(expert_weights(settings, 2, 5), expert_weights(settings, 2, 6));
}

// What all ranks send is the same with and without skew, but for rounding; experts compute in
// proportion to their tokens.
TEST(MixtureOfExperts, WorksTogether) {
  for (const std::uint32_t skew : {0U, 500'000'000U, 1'000'000'000U}) {
    const fabric::Fabric fabric = plain_fabric(1, 8);
    IdealNetwork network(*make_workload(moe_job(skew), fabric, 9), 8, 4);
    network.run();
    EXPECT_TRUE(network.all_done()) << skew;
    EXPECT_EQ(network.marks().size(), 16U);
    EXPECT_LE(network.outstanding_max(), 16U);
    std::uint64_t computed = 0;
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
      for (const Op& op : moe_graph(moe_job(skew), 9, rank).ops) {
        computed += static_cast<std::uint64_t>(op.time.raw());
      }
    }
    EXPECT_NEAR(static_cast<double>(computed), 8 * 3 * 150, 24) << skew;
  }
}

TEST(MixtureOfExperts, IsChecked) {
  const fabric::Fabric fabric = plain_fabric(1, 8);
  EXPECT_EQ(check_workload(moe_job(0), fabric), "");
  MixtureOfExperts settings = moe_job(0);
  settings.layers = 0;
  EXPECT_EQ(check_workload(settings, fabric), "a job needs a step and a layer");
  settings.layers = kLayersMax + 1;
  EXPECT_EQ(check_workload(settings, fabric), "a job has at most 1024 layers");
}

}  // namespace
}  // namespace openmrc::sim
