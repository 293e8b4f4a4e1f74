// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/run.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <thread>

#include "openmrc/host/config.h"
#include "openmrc/host/interrupt.h"
#include "openmrc/sim/host_limits.h"
#include "openmrc/sim/report/compare.h"
#include "openmrc/sim/report/report.h"
#include "openmrc/sim/report/result_table.h"
#include "openmrc/sim/report/verdict.h"
#include "openmrc/sim/result/result_json.h"
#include "openmrc/sim/simulation.h"
#include "openmrc/text/numbers.h"
#include "tools/mrc/colour.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/sim/baseline.h"
#include "tools/mrc/sim/files.h"
#include "tools/mrc/sim/forecast.h"
#include "tools/mrc/sim/outcome.h"
#include "tools/mrc/sim/text.h"
#include "tools/mrc/sim/watch.h"

namespace openmrc::tools {
namespace {

using sim::RunResult;
using sim::Scenario;

constexpr int kAllWell = 0;
constexpr int kNotFinished = 1;
constexpr int kNothingRun = 2;

// A baseline that never finishes ends when it has taken so many times as long as the run it is put
// beside, unless the scenario has a limit of its own.
constexpr std::int64_t kBaselineTimes = 100;

struct Run {
  RunResult result{};
  std::string problems{};  // empty: it finished, and packet accounting is consistent
  std::string cost{};      // what the run itself took
};

std::string transport_of(const Scenario& scenario) {
  return std::holds_alternative<sim::RcTransport>(scenario.transport) ? "rc" : "mrc";
}

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

// A window of a small fabric is over before several threads have met.
std::size_t threads_for(const Scenario& scenario, const SimRunOptions& options) {
  if (options.threads != 0) return options.threads;
  constexpr std::size_t kHostsPerThread = 32;
  const std::size_t hosts = std::size_t{scenario.shape.racks} * scenario.shape.hosts_per_rack;
  return std::clamp<std::size_t>(hosts / kHostsPerThread, 1,
                                 std::max(1U, std::thread::hardware_concurrency()));
}

Stop stop_of(const Scenario& scenario, const RunResult& result) {
  if (host::interrupted()) return Stop::kInterrupted;
  const bool limited = scenario.time_limit > Picoseconds{};
  return limited && result.end >= scenario.time_limit ? Stop::kTimeLimit : Stop::kNothingLeft;
}

Run run_one(const Scenario& scenario, const SimRunOptions& options) {
  const std::string name = fmt::format("{} ({})", scenario.name, transport_of(scenario));
  RunWatch watch({.name = name,
                  .expected_hops = expected_hops(scenario),
                  .time_limit = scenario.time_limit,
                  .quiet = options.quiet});
  const std::size_t threads = threads_for(scenario, options);
  Run run;
  run.result = sim::run(
      scenario,
      {.threads = threads, .on_progress = RunWatch::on_progress, .progress_context = &watch});
  run.problems = problems_of(run.result, watch.last(), stop_of(scenario, run.result));
  run.cost = fmt::format("{}: {}", name, cost_line(run.result, threads, watch.seconds()));
  return run;
}

// The transport as the command line wants it.
Scenario with_transport(Scenario scenario, const std::string& transport) {
  if (transport == "rc") return as_rc(std::move(scenario));
  if (transport == "mrc" && transport_of(scenario) != "mrc") {
    scenario.transport = sim::MrcTransport{};
  }
  return scenario;
}

std::optional<Run> run_baseline(const Scenario& scenario, const Run& first,
                                const SimRunOptions& options) {
  if (!options.baseline || host::interrupted()) return std::nullopt;
  Scenario baseline = as_rc(scenario);
  if (baseline.time_limit == Picoseconds{}) {
    baseline.time_limit = first.result.end * kBaselineTimes;
  }
  return run_one(baseline, options);
}

// out.json -> out.rc.json
std::string baseline_file(const std::string& path) {
  std::filesystem::path beside(path);
  const std::string extension = beside.extension();
  return beside.replace_extension(".rc" + extension).string();
}

// What can be known to be wrong before the run.
std::string usage_problem(const SimRunOptions& options) {
  if (options.baseline && options.transport == "rc") {
    return "--baseline adds a run with RC, and --transport rc has one already; leave one of them";
  }
  if (options.baseline && options.json == "-") {
    return "--baseline gives two results; give --json a file, and the second is written beside it";
  }
  for (const std::string& path : {options.json, options.report}) {
    if (path.empty() || path == "-") continue;
    if (std::string problem = problem_with_output(path); !problem.empty()) return problem;
  }
  return {};
}

// Everything that is reported of a run, and what it was.
class Story {
 public:
  Story(const LoadedScenario& loaded, Scenario scenario, const SimRunOptions& options)
      : loaded_(loaded), scenario_(std::move(scenario)), options_(options) {}

  void run() {
    first_ = run_one(scenario_, options_);
    baseline_ = run_baseline(scenario_, first_, options_);
  }

  void print() const {
    if (options_.json == "-") {
      std::cout << sim::write_result_json(first_.result);
    } else {
      std::cout << sim::result_table(first_.result) << comparison() << words();
    }
    std::cout << std::flush;
    if (options_.quiet) return;
    std::cerr << first_.cost << '\n';
    if (baseline_) std::cerr << baseline_->cost << '\n';
  }

  [[nodiscard]] bool write_files() const {
    bool written = true;
    const auto write = [&](const std::string& path, const std::string& text) {
      const std::string problem = write_text(path, text);
      if (!problem.empty()) complain("sim", problem);
      written = written && problem.empty();
    };
    if (!options_.json.empty() && options_.json != "-") {
      write(options_.json, sim::write_result_json(first_.result));
      if (baseline_) {
        write(baseline_file(options_.json), sim::write_result_json(baseline_->result));
      }
    }
    if (!options_.report.empty()) write(options_.report, report());
    return written;
  }

  // The baseline may well not finish: that is a result too.
  [[nodiscard]] int verdict() const {
    if (!first_.problems.empty()) complain("sim", first_.problems);
    if (baseline_ && !baseline_->problems.empty())
      complain("sim", "with RC " + baseline_->problems);
    const bool is_consistent =
        !baseline_ || check_packet_accounting(baseline_->result.totals).empty();
    return first_.problems.empty() && is_consistent && !host::interrupted() ? kAllWell
                                                                            : kNotFinished;
  }

 private:
  [[nodiscard]] std::string comparison() const {
    if (!baseline_) return {};
    return "\n" + sim::compare_text(first_.result, baseline_->result);
  }

  // The run in sentences, and what its author wants to be seen.
  [[nodiscard]] std::string words() const {
    const sim::Verdict verdict = sim::verdict_of(first_.result, second());
    const bool coloured = wants_colour(STDOUT_FILENO);
    const Colour colour = first_.problems.empty() ? Colour::kStrong : Colour::kBad;
    std::string text =
        "\n" + painted(wrapped(verdict.headline), colour, coloured) + wrapped(verdict.detail);
    if (const std::string note = rc_note(); !note.empty()) text += "\n" + wrapped(note);
    if (!scenario_.text.empty()) {
      text += painted("\nWhat to observe\n", Colour::kStrong, coloured) + wrapped(scenario_.text);
    }
    return text;
  }

  [[nodiscard]] std::string rc_note() const {
    if (baseline_) return describe_rc(scenario_);
    return options_.transport == "rc" ? describe_rc(loaded_.scenario) : "";
  }

  [[nodiscard]] std::string report() const {
    std::string note = first_.cost + ".";
    if (baseline_) note += " " + baseline_->cost + ".";
    if (const std::string rc = rc_note(); !rc.empty()) note += " " + rc;
    return sim::html_report(
        first_.result,
        {.scenario_text = scenario_.text, .scenario_file = loaded_.text, .run_note = note},
        second());
  }

  [[nodiscard]] const RunResult* second() const { return baseline_ ? &baseline_->result : nullptr; }

  const LoadedScenario& loaded_;
  Scenario scenario_;
  const SimRunOptions& options_;
  Run first_{};
  std::optional<Run> baseline_{};
};

// Gives every host the [transport] of a host's configuration.
Result<void, std::string> take_host_config(const std::string& file, Scenario& scenario) {
  if (file.empty()) return {};
  auto* mrc = std::get_if<sim::MrcTransport>(&scenario.transport);
  if (mrc == nullptr) return failure(std::string("--host-config needs a scenario with MRC"));
  const auto config = host::load_config(file);
  if (!config) return failure(text::to_string(config.error()));
  if (const auto fits = sim::check_evs(config->transport.paths, scenario.shape.planes); !fits) {
    return failure(fmt::format("{}: transport.evs: {}", file, fits.error()));
  }
  mrc->profile = config->transport;
  return {};
}

}  // namespace

int run_scenario(const SimRunOptions& options) {
  const auto give_up = [](const std::string& why) {
    complain("sim", why);
    return kNothingRun;
  };
  if (const std::string problem = usage_problem(options); !problem.empty()) return give_up(problem);
  const auto loaded = load_scenario(options.file, options.overrides);
  if (!loaded) return give_up(loaded.error());
  Scenario scenario = with_transport(loaded->scenario, options.transport);
  if (const auto taken = take_host_config(options.host_config, scenario); !taken) {
    return give_up(taken.error());
  }
  if (options.baseline && transport_of(scenario) == "rc") {
    return give_up("--baseline adds a run with RC, and this scenario is one already");
  }
  if (const auto fits = sim::check_host_limits(scenario); !fits) return give_up(fits.error());
  Story story(*loaded, std::move(scenario), options);
  story.run();
  story.print();
  const bool written = story.write_files();
  const int verdict = story.verdict();
  return written ? verdict : kNotFinished;
}

}  // namespace openmrc::tools
