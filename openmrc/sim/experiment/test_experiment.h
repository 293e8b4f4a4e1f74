// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/sim/experiment/summary.h"
#include "openmrc/sim/report/sample_results.h"

namespace openmrc::sim {

// Two groups: three runs that end after 1, 2 and 3 ms, and two after 7 and 9 ms, the last of which
// did not finish.
inline Experiment sample_experiment() {
  Experiment experiment{
      .title = "Planes & mixes", .axes = {"planes", "mix"}, .missing = {"planes=8, mix=c, seed 3"}};
  const auto add = [&](std::vector<std::string> values, std::uint64_t seed, int milliseconds) {
    RunResult result = sample_result();
    result.end = kMillisecond * milliseconds;
    result.finished = milliseconds < 9;
    experiment.runs.push_back({.values = std::move(values),
                               .seed = seed,
                               .finished = result.finished,
                               .figures = measure(result)});
  };
  for (const int i : {1, 2, 3}) add({"4", "a,b"}, static_cast<std::uint64_t>(i), i);
  add({"8", "c"}, 1, 7);
  add({"8", "c"}, 2, 9);
  return experiment;
}

}  // namespace openmrc::sim
