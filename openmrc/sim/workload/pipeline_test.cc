// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/pipeline.h"

#include <gtest/gtest.h>

#include "openmrc/sim/workload/ideal_network.h"

namespace openmrc::sim {
namespace {

Pipeline pipeline_job(std::uint32_t hosts, std::uint32_t stages, std::uint32_t micro_batches) {
  return {.hosts = hosts,
          .stages = stages,
          .micro_batches = micro_batches,
          .bytes = 1'000,
          .forward = Picoseconds(1'000'000),
          .backward = Picoseconds(2'000'000)};
}

IdealNetwork run_pipeline(const Pipeline& settings) {
  const fabric::Fabric fabric = plain_fabric(1, settings.hosts);
  EXPECT_EQ(check_workload(settings, fabric), "");
  IdealNetwork network(*make_workload(settings, fabric, 1), settings.hosts, 1, Picoseconds(1));
  network.run();
  EXPECT_TRUE(network.all_done());
  return network;
}

Picoseconds last_end(const IdealNetwork& network) {
  Picoseconds last{};
  for (const auto& [host, mark] : network.marks()) last = std::max(last, mark.end);
  return last;
}

// The first stage begins and ends it: as many forwards and backwards as there are micro-batches,
// and a bubble of one of each for every other stage.
TEST(Pipeline, TakesItsBatchesAndItsBubble) {
  for (const std::uint32_t stages : {2U, 3U, 4U, 8U}) {
    for (const std::uint32_t batches : {1U, 4U, 16U}) {
      const Picoseconds time = last_end(run_pipeline(pipeline_job(stages, stages, batches)));
      const std::int64_t ideal = (batches + stages - 1) * std::int64_t{3'000'000};
      EXPECT_GE(time.raw(), ideal) << stages << ' ' << batches;
      EXPECT_LE(time.raw(), ideal + 2 * (batches + stages)) << stages << ' ' << batches;
    }
  }
}

TEST(Pipeline, SendsActivationsForwardAndGradientsBack) {
  const auto network = run_pipeline(pipeline_job(8, 4, 5));
  EXPECT_EQ(network.bytes_from(0), 5'000U);
  EXPECT_EQ(network.bytes_from(2), 10'000U);
  EXPECT_EQ(network.bytes_from(7), 5'000U);
  for (const auto& message : network.messages()) {
    const std::uint32_t apart =
        message.to > message.from ? message.to - message.from : message.from - message.to;
    EXPECT_EQ(apart, 2U) << "ranks exchange with their own place in other stages";
  }
}

TEST(Pipeline, ReducesGradientsInsideStages) {
  Pipeline settings = pipeline_job(8, 2, 3);
  settings.all_reduce_bytes = 4'000;
  const auto network = run_pipeline(settings);
  EXPECT_EQ(network.bytes_from(5), 3 * 1'000U + 2 * 4'000 * 3 / 4);
}

TEST(Pipeline, IsChecked) {
  const fabric::Fabric fabric = plain_fabric(1, 8);
  EXPECT_EQ(check_workload(pipeline_job(8, 1, 4), fabric), "a pipeline needs two stages");
  EXPECT_EQ(check_workload(pipeline_job(8, 3, 4), fabric),
            "3 stages have no equal share of 8 hosts");
  EXPECT_EQ(check_workload(pipeline_job(16, 4, 4), fabric),
            "16 hosts are asked for, and the fabric has 8");
  EXPECT_EQ(check_workload(pipeline_job(8, 4, 0), fabric),
            "a pipeline processes 1 to 4096 micro-batches");
}

}  // namespace
}  // namespace openmrc::sim
