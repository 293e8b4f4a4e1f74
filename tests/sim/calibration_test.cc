// SPDX-License-Identifier: BSD-3-Clause
// Devices that are fitted to published figures give them: docs/reproductions.md.
#include <gtest/gtest.h>

#include <cstddef>

#include "tests/sim/scenario_run.h"

namespace openmrc::sim {
namespace {

// From the start of flow `first` to that of the fifth one behind it, which has waited for all
// between them: five times the way.
double latency_us(const RunResult& result, std::size_t first) {
  return number(result.flows.at(first + 5).start - result.flows.at(first).start) / 5e6;
}

TEST(FittedDevices, HaveThePublishedLatencies) {
  const RunResult result = run_whole(example("fitted-latency"));
  ASSERT_EQ(result.flows.size(), 12U);
  EXPECT_NEAR(latency_us(result, 0), 5.09, 0.005);
  EXPECT_NEAR(latency_us(result, 6), 6.54, 0.005);
}

TEST(FittedDevices, HaveThePublishedBandwidth) {
  for (const char* name : {"fitted-bandwidth-same-t0", "fitted-bandwidth-across-t1"}) {
    const RunResult result = run_whole(example(name));
    EXPECT_NEAR(goodput(result, {us(50), us(500)}), 770, 8) << name;
  }
}

}  // namespace
}  // namespace openmrc::sim
