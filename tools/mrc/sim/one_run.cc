// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/one_run.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <thread>

#include "openmrc/host/interrupt.h"
#include "openmrc/sim/simulation.h"
#include "openmrc/text/numbers.h"
#include "tools/mrc/sim/forecast.h"
#include "tools/mrc/sim/outcome.h"
#include "tools/mrc/sim/prepare.h"
#include "tools/mrc/sim/watch.h"

namespace openmrc::tools {
namespace {

using sim::RunResult;
using sim::Scenario;

std::uint64_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

std::string cost_line(const RunResult& result, std::size_t threads, double seconds) {
  const std::uint64_t hops = result.totals.switch_hops + result.totals.nic_hops;
  return fmt::format("{:.2f} s on {} thread{}, {} hops, {} hops/s, {} of memory at most", seconds,
                     threads, threads == 1 ? "" : "s", text::human_count(hops),
                     text::human(static_cast<double>(hops) / seconds, text::Unit::kCount),
                     text::human_bytes(peak_memory_bytes()));
}

Stop stop_of(const Scenario& scenario, const RunResult& result) {
  if (host::interrupted()) return Stop::kInterrupted;
  const bool limited = scenario.time_limit > Picoseconds{};
  return limited && result.end >= scenario.time_limit ? Stop::kTimeLimit : Stop::kNothingLeft;
}

}  // namespace

// A window of a small fabric is over before several threads have met.
std::size_t threads_for(const Scenario& scenario, std::size_t most) {
  constexpr std::size_t kHostsPerThread = 32;
  const std::size_t hosts = std::size_t{scenario.shape.racks} * scenario.shape.hosts_per_rack;
  return std::clamp<std::size_t>(hosts / kHostsPerThread, 1, std::max<std::size_t>(1, most));
}

Run run_one(const Scenario& scenario, RunSettings settings) {
  const std::string name = fmt::format("{} ({})", scenario.name, transport_of(scenario));
  RunWatch watch({.name = name,
                  .expected_hops = expected_hops(scenario),
                  .time_limit = scenario.time_limit,
                  .quiet = settings.quiet});
  const std::size_t threads = settings.threads != 0
                                  ? settings.threads
                                  : threads_for(scenario, std::thread::hardware_concurrency());
  Run run;
  const sim::RunOptions options{
      .threads = threads, .on_progress = RunWatch::on_progress, .progress_context = &watch};
  if (settings.series == nullptr) {
    run.result = sim::run(scenario, options);
  } else {
    sim::SampledRun sampled = sim::run_sampled(scenario, options, *settings.series);
    run.result = std::move(sampled.result);
    run.series = std::move(sampled.series);
  }
  run.problems = problems_of(run.result, watch.last(), stop_of(scenario, run.result));
  run.cost = fmt::format("{}: {}", name, cost_line(run.result, threads, watch.seconds()));
  return run;
}

}  // namespace openmrc::tools
