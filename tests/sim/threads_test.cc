// SPDX-License-Identifier: BSD-3-Clause
// The simulator's threads, for the thread sanitizer to watch: small, so that little is built for
// it.
#include <gtest/gtest.h>

#include "tests/sim/scenario_run.h"

namespace openmrc::sim {
namespace {

TEST(SimulationThreads, ShareAFabricWithEveryKindOfFault) {
  const RunResult result = run(example("many-faults"), {.threads = 3});
  EXPECT_TRUE(result.finished);
  EXPECT_EQ(check_packet_accounting(result.totals), "");
}

}  // namespace
}  // namespace openmrc::sim
