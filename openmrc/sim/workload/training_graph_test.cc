// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/training_graph.h"

#include <gtest/gtest.h>

#include "openmrc/sim/workload/ideal_network.h"

namespace openmrc::sim {
namespace {

// A message takes one picosecond: 2 x (4 - 1) for a ring of four.
constexpr std::int64_t kReduce = 6;

IdealNetwork run_overlapped(const WorkloadSettings& settings, std::uint32_t hosts) {
  const fabric::Fabric fabric = plain_fabric(1, hosts);
  EXPECT_EQ(check_workload(settings, fabric), "");
  IdealNetwork network(*make_workload(settings, fabric, 1), hosts, 1, Picoseconds(1));
  network.run();
  EXPECT_TRUE(network.all_done());
  return network;
}

OverlappedTraining overlapped_job(bool overlap) {
  return {.hosts = 4,
          .steps = 2,
          .compute = Picoseconds(3000),
          .all_reduce_bytes = {1000, 1000, 1000},
          .overlap = overlap};
}

TEST(TrainingGraph, ReducesBehindTheComputation) {
  const auto network = run_overlapped(overlapped_job(false), 4);
  ASSERT_EQ(network.marks().size(), 8U);
  // The last acknowledgement comes one picosecond behind its message.
  EXPECT_EQ((network.marks()[0].mark.end).raw(), 3000 + 3 * kReduce + 1);
}

TEST(TrainingGraph, ReducesWhileItComputes) {
  const auto network = run_overlapped(overlapped_job(true), 4);
  ASSERT_EQ(network.marks().size(), 8U);
  EXPECT_EQ((network.marks()[0].mark.end).raw(), 3000 + kReduce + 1)
      << "only the all-reduce of the last part is not hidden";
  EXPECT_EQ(network.bytes_from(2), 2 * 3 * 2 * 1000 * 3 / 4);
}

TEST(TrainingGraph, HalfARingTakesHalfAsLong) {
  const auto network =
      run_overlapped(RingHalf{.hosts = 4, .steps = 3, .gather = true, .bytes = 400}, 4);
  EXPECT_EQ(network.marks()[0].mark.end.raw(), kReduce / 2 + 1);
  EXPECT_EQ(network.bytes_from(0), 3 * 300U);
}

TEST(TrainingGraph, IsCheckedAgainstTheFabric) {
  const fabric::Fabric fabric = plain_fabric(2, 4);
  OverlappedTraining settings = overlapped_job(true);
  settings.hosts = 9;
  EXPECT_EQ(check_workload(settings, fabric), "9 hosts are asked for, and the fabric has 8");
  settings = overlapped_job(true);
  settings.steps = 0;
  EXPECT_EQ(check_workload(settings, fabric), "a job needs a step");
  settings = overlapped_job(true);
  settings.all_reduce_bytes = {std::uint64_t{1} << 40};
  settings.options.chunk = 1;
  EXPECT_NE(check_workload(settings, fabric).find("operations on each of 4 hosts"),
            std::string::npos);
  EXPECT_EQ(check_workload(RingHalf{.hosts = 8, .bytes = 7}, fabric),
            "a vector needs a byte for each host");
}

}  // namespace
}  // namespace openmrc::sim
