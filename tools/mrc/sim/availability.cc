// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/availability.h"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <utility>

#include "openmrc/sim/availability/availability_file.h"
#include "openmrc/sim/availability/availability_report.h"
#include "openmrc/sim/experiment/sweep_file.h"
#include "openmrc/text/file_limits.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/read_file.h"
#include "tools/mrc/sim/exit_status.h"
#include "tools/mrc/sim/files.h"
#include "tools/mrc/sim/sweep.h"
#include "tools/mrc/sim/sweep_load.h"

namespace openmrc::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kAvailabilityJobsMax = 1024;

struct AvailabilityOptions {
  SweepOptions sweep{};  // its file is ours
  std::string json{};    // file; - for standard output in place of the table
};

struct LoadedAvailability {
  sim::AvailabilityFile file{};
  std::vector<sim::FabricState> states{};
  LoadedSweep sweep{};  // a variant for each state
};

Result<sim::AvailabilityFile, std::string> read_availability(const std::string& path) {
  const auto text = read_file(path, text::kTomlBytesMax);
  if (!text) return failure(text.error());
  auto file = sim::parse_availability_file(*text);
  if (file) return std::move(*file);
  for (text::FileError& error : file.error()) error.file = path;
  return failure(to_string(file.error()));
}

sim::SweepFile sweep_of(const LoadedAvailability& loaded) {
  sim::SweepFile sweep{.title = loaded.file.title, .seed_count = loaded.file.seeds};
  for (const sim::UnreliableParts& parts : loaded.file.parts) {
    sweep.axes.push_back(std::string(sim::name_of(parts)) + " down");
  }
  for (const sim::FabricState& state : loaded.states) {
    sim::SweepVariant& variant = sweep.variants.emplace_back();
    for (const std::uint64_t down : state.down) variant.values.push_back(fmt::format("{}", down));
    variant.settings.push_back(state_setting(loaded.file.parts, state));
  }
  return sweep;
}

Result<LoadedAvailability, std::string> load_availability(const std::string& path) {
  auto file = read_availability(path);
  if (!file) return failure(file.error());
  const std::string scenario_path = (fs::path(path).parent_path() / file->scenario).string();
  const auto scenario = load_scenario(scenario_path);
  if (!scenario) return failure(scenario.error());
  if (!scenario->scenario.faults.empty()) {
    return failure(
        fmt::format("'{}' has faults of its own; what fails here is what {} says, so "
                    "take them out",
                    scenario_path, path));
  }
  const auto fabric = fabric::Fabric::make(scenario->scenario.shape);
  if (const auto counted = count_parts(*file, *fabric); !counted) return failure(counted.error());
  LoadedAvailability loaded{.file = std::move(*file)};
  loaded.states = sim::probable_states(loaded.file.parts, loaded.file.mass, loaded.file.states_max);
  auto sweep = plan_sweep(sweep_of(loaded), scenario_path);
  if (!sweep) return failure(sweep.error());
  loaded.sweep = std::move(*sweep);
  return loaded;
}

// The runs of a state follow each other.
Result<sim::Availability, std::string> gather(const LoadedAvailability& loaded,
                                              const std::string& folder) {
  sim::Availability availability{.title = loaded.file.title, .parts = loaded.file.parts};
  for (std::size_t i = 0; i < loaded.sweep.plan.runs.size(); ++i) {
    const std::size_t state = i / loaded.sweep.seeds;
    if (state == availability.states.size()) {
      availability.states.push_back({.state = loaded.states[state]});
    }
    const auto result =
        load_result((fs::path(folder) / file_of(loaded.sweep.plan.runs[i])).string());
    if (!result) return failure(result.error());
    availability.states[state].runs.push_back(measure(*result));
    if (!result->finished) ++availability.states[state].unfinished;
  }
  return availability;
}

// Those of a sweep's table that all runs have, without what is only counted.
std::vector<std::size_t> shown_figures(const sim::Availability& availability) {
  std::vector<std::size_t> shown;
  for (const char* key : {"goodput_bps", "completion_p99_ps", "step_median_ps"}) {
    const std::size_t measure = *sim::find_measure(key);
    if (expected(availability, measure)) shown.push_back(measure);
  }
  return shown;
}

int run_availability(const AvailabilityOptions& options) {
  const auto refuse = [](const std::string& why) {
    complain("sim", why);
    return kNothingRun;
  };
  const auto loaded = load_availability(options.sweep.file);
  if (!loaded) return refuse(loaded.error());
  if (!options.json.empty() && options.json != "-") {
    const std::string problem = problem_with_output(options.json);
    if (!problem.empty()) return refuse(problem);
  }
  if (const int status = run_sweep(loaded->sweep, options.sweep); status != 0) return status;
  const auto availability = gather(*loaded, folder_of(options.sweep));
  if (!availability) return complain("sim", availability.error());
  if (options.json == "-") {
    std::cout << availability_json(*availability) << std::flush;
    return kAllWell;
  }
  std::cout << availability_text(*availability, shown_figures(*availability)) << std::flush;
  if (options.json.empty()) return kAllWell;
  const std::string problem = write_text(options.json, availability_json(*availability));
  return problem.empty() ? kAllWell : complain("sim", problem);
}

}  // namespace

void add_availability(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<AvailabilityOptions>();
  options->sweep.summary = false;
  CLI::App* command = parent.add_subcommand(
      "availability", "What to expect of a fabric whose parts fail: short runs, weighted");
  command->add_option("file", options->sweep.file, "What fails how often (TOML)")
      ->type_name("FILE.toml")
      ->required();
  command
      ->add_option("--out", options->sweep.folder,
                   "Folder for the results; default FILE.results in the working directory")
      ->type_name("DIR");
  command->add_option("--jobs", options->sweep.jobs, "Runs at a time; default one per processor")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, kAvailabilityJobsMax).description(""));
  command
      ->add_option("--json", options->json,
                   "Write all figures as JSON; - writes them to standard output instead of the "
                   "table")
      ->type_name("FILE");
  command->add_flag("-q,--quiet", options->sweep.quiet, "No progress");
  command->footer(
      "Results that are there and fit are not run again. Ctrl-C stops it; what is done stays.\n"
      "Exit code: 0 done, 1 a run failed or a file cannot be written, 2 nothing was run, 130 "
      "stopped by Ctrl-C.\n\n"
      "Examples:\n"
      "  mrc sim availability examples/availability/links-and-switches.toml\n"
      "  mrc sim availability plan.toml --json - | jq .expected.goodput_bps");
  command->callback([options, &exit_code] { exit_code = run_availability(*options); });
}

}  // namespace openmrc::tools
