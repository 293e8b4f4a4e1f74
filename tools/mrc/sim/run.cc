// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <optional>
#include <utility>

#include "openmrc/host/config.h"
#include "openmrc/host/interrupt.h"
#include "openmrc/sim/report/compare.h"
#include "openmrc/sim/report/report.h"
#include "openmrc/sim/report/result_table.h"
#include "openmrc/sim/report/verdict.h"
#include "openmrc/sim/scenario/faults_text.h"
#include "openmrc/sim/series/series_csv.h"
#include "openmrc/text/file_limits.h"
#include "tools/mrc/colour.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/read_file.h"
#include "tools/mrc/sim/baseline.h"
#include "tools/mrc/sim/exit_status.h"
#include "tools/mrc/sim/files.h"
#include "tools/mrc/sim/one_run.h"
#include "tools/mrc/sim/prepare.h"
#include "tools/mrc/sim/seeds.h"
#include "tools/mrc/sim/text.h"

namespace openmrc::tools {
namespace {

using sim::RunResult;
using sim::Scenario;

// A baseline that never finishes ends when it has taken so many times as long as the run it is put
// beside, unless the scenario has a limit of its own.
constexpr std::int64_t kBaselineTimes = 100;

Picoseconds baseline_limit(const Scenario& scenario, const RunResult& first) {
  if (scenario.time_limit != Picoseconds{}) return scenario.time_limit;
  return first.end * kBaselineTimes;
}

std::optional<Run> run_baseline(const Scenario& scenario, const Run& first,
                                const SimRunOptions& options) {
  if (!options.baseline || host::interrupted()) return std::nullopt;
  Scenario baseline = as_rc(scenario);
  baseline.time_limit = baseline_limit(scenario, first.result);
  return run_one(baseline, {.threads = options.threads, .quiet = options.quiet});
}

// From which the baseline can be run alone.
sim::RunInputs baseline_inputs(const PreparedRun& prepared, const RunResult& first) {
  sim::RunInputs inputs = prepared.inputs;
  inputs.transport = "rc";
  inputs.settings.push_back(
      fmt::format("time_limit=\"{} ps\"", baseline_limit(prepared.scenario, first).raw()));
  return inputs;
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
  if (options.transport == "rc" && !options.host_config.empty()) {
    return "--host-config is the configuration of MRC, and --transport rc runs without it";
  }
  if (options.baseline && options.json == "-") {
    return "--baseline gives two results; give --json a file, and the second is written beside it";
  }
  if (options.seeds != 0 && options.baseline) {
    return "--seeds runs one transport; for RC beside it give --transport rc in a second call, or "
           "use 'mrc sim sweep'";
  }
  if (options.faults_only && (options.seeds != 0 || options.baseline || !options.json.empty() ||
                              !options.report.empty() || !options.series.file.empty())) {
    return "--faults-only runs nothing; leave --seeds, --baseline, --json, --report and --series";
  }
  if (options.seeds != 0 && !options.series.file.empty()) {
    return "--series is of one run, and --seeds makes many; leave one of them";
  }
  if (options.series.file.empty() &&
      !(options.series.request.hosts.empty() && options.series.request.links.empty())) {
    return "--series-hosts and --series-links say what is in a series; give --series FILE.csv too";
  }
  for (const std::string& path : {options.json, options.report, options.series.file}) {
    if (path.empty() || path == "-") continue;
    if (std::string problem = problem_with_output(path); !problem.empty()) return problem;
  }
  return {};
}

// Everything that is reported of a run, and what it was.
class Story {
 public:
  Story(const PreparedRun& prepared, const SimRunOptions& options)
      : prepared_(prepared), scenario_(prepared.scenario), options_(options) {}

  void run(const sim::SeriesSettings* series) {
    first_ = run_one(scenario_,
                     {.threads = options_.threads, .quiet = options_.quiet, .series = series});
    baseline_ = run_baseline(scenario_, first_, options_);
  }

  void print() const {
    if (options_.json == "-") {
      std::cout << result_file(first_.result, prepared_.inputs);
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
      write(options_.json, result_file(first_.result, prepared_.inputs));
      if (baseline_) {
        write(baseline_file(options_.json),
              result_file(baseline_->result, baseline_inputs(prepared_, first_.result)));
      }
    }
    if (!options_.report.empty()) write(options_.report, report());
    if (!options_.series.file.empty()) {
      write(options_.series.file, sim::write_series_csv(first_.series));
      std::cerr << series_note(options_.series, first_.series);
    }
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

  // A result that is run again without changes is the same; says whether it is.
  [[nodiscard]] bool is_as_recorded() const {
    if (!is_result_file(options_.file) || has_changes() || host::interrupted()) return true;
    const auto recorded = load_result(options_.file);
    const bool same = recorded && *recorded == first_.result;
    if (!same) {
      complain("sim", fmt::format("this is not the result in '{}', which {} made; this is {}",
                                  options_.file, maker_of(options_.file), program_name()));
    } else if (!options_.quiet) {
      std::cerr << fmt::format("the same result as in {}, to the last digit\n", options_.file);
    }
    return same;
  }

 private:
  [[nodiscard]] bool has_changes() const {
    return options_.overrides.seed || !options_.overrides.settings.empty() ||
           !options_.transport.empty() || !options_.host_config.empty();
  }

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
    return prepared_.inputs.transport == "rc" ? describe_rc(prepared_.original) : "";
  }

  [[nodiscard]] std::string report() const {
    std::string note = first_.cost + ".";
    if (baseline_) note += " " + baseline_->cost + ".";
    if (const std::string rc = rc_note(); !rc.empty()) note += " " + rc;
    return sim::html_report(first_.result,
                            {.scenario_text = scenario_.text,
                             .scenario_file = text_of(prepared_.inputs),
                             .run_note = note},
                            second());
  }

  [[nodiscard]] const RunResult* second() const { return baseline_ ? &baseline_->result : nullptr; }

  const PreparedRun& prepared_;
  const Scenario& scenario_;
  const SimRunOptions& options_;
  Run first_{};
  std::optional<Run> baseline_{};
};

int refuse_run(const std::string& why) {
  complain("sim", why);
  return kNothingRun;
}

// The text of a host's configuration that is right.
Result<std::string, std::string> read_host_config(const std::string& file) {
  if (const auto config = host::load_config(file); !config) {
    return failure(text::to_string(config.error()));
  }
  return read_file(file, text::kTomlBytesMax);
}

}  // namespace

Result<PreparedRun, std::string> prepare(const SimRunOptions& options) {
  auto loaded = load_scenario(options.file, options.overrides);
  if (!loaded) return failure(loaded.error());
  if (!options.transport.empty()) loaded->inputs.transport = options.transport;
  if (!options.host_config.empty()) {
    auto text = read_host_config(options.host_config);
    if (!text) return failure(text.error());
    loaded->inputs.host_config = std::move(*text);
  }
  return prepare_run(std::move(*loaded));
}

int run_scenario(const SimRunOptions& options) {
  if (const std::string problem = usage_problem(options); !problem.empty()) {
    return refuse_run(problem);
  }
  if (options.seeds != 0) return run_seeds(options);
  const auto prepared = prepare(options);
  if (!prepared) return refuse_run(prepared.error());
  if (options.faults_only) {
    std::cout << sim::faults_text(prepared->original.faults) << std::flush;
    return kAllWell;
  }
  if (options.baseline && transport_of(prepared->scenario) == "rc") {
    return refuse_run("--baseline adds a run with RC, and this scenario is one already");
  }
  const auto series = sim::read_request(options.series.request, prepared->scenario);
  if (!series) return refuse_run(series.error());
  Story story(*prepared, options);
  story.run(options.series.file.empty() ? nullptr : &*series);
  story.print();
  const bool written = story.write_files();
  const int verdict = story.verdict();
  return written && story.is_as_recorded() ? verdict : kNotFinished;
}

}  // namespace openmrc::tools
