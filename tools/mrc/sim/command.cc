// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <limits>
#include <memory>
#include <string>

#include "openmrc/sim/report/compare.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/sim/availability.h"
#include "tools/mrc/sim/collect.h"
#include "tools/mrc/sim/files.h"
#include "tools/mrc/sim/list.h"
#include "tools/mrc/sim/run.h"
#include "tools/mrc/sim/search_command.h"
#include "tools/mrc/sim/series_options.h"
#include "tools/mrc/sim/sweep.h"
#include "tools/mrc/sim/text.h"

namespace openmrc::tools {
namespace {

// More threads than any machine of today has processors.
constexpr std::size_t kThreadsMax = 1024;
constexpr std::size_t kJobsMax = kThreadsMax;
// More change no figure that anybody would print.
constexpr std::size_t kSeedsMax = 10'000;

void add_seed_options(CLI::App& command, SimRunOptions& options) {
  command.add_option("--seed", options.overrides.seed, "Seed instead of the one in the scenario")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{std::numeric_limits<std::int64_t>::max()})
                  .description(""));
  command
      .add_option("--seeds", options.seeds,
                  "Run it with N seeds, from the scenario's or --seed's on, and print the median "
                  "of each figure with its 95 % interval")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{2}, kSeedsMax).description(""));
  command
      .add_option("--jobs", options.jobs,
                  "With --seeds: how many run at a time; default one per processor")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, kJobsMax).description(""));
}

void add_run(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<SimRunOptions>();
  CLI::App* command =
      parent.add_subcommand("run", "Run a scenario and print the result as a table");
  command
      ->add_option("scenario", options->file,
                   "Scenario file (TOML), or a result (JSON), which is run again from itself")
      ->type_name("SCENARIO.toml")
      ->required();
  command
      ->add_option("--threads", options->threads,
                   "Threads; default one per processor, fewer for a small fabric. The result "
                   "does not depend on it")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, kThreadsMax).description(""));
  add_seed_options(*command, *options);
  command
      ->add_option("--set", options->overrides.settings,
                   "Setting instead of the one in the scenario, as TOML: transport.evs=64, "
                   "'workload.bytes=\"8 MiB\"', fault.0.at=0, fault=[]. May be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all();
  command
      ->add_option("--transport", options->transport,
                   "Transport instead of the one in the scenario. With rc: one plane, as fast as "
                   "all planes together")
      ->check(CLI::IsMember({"mrc", "rc"}))
      ->option_text("mrc|rc");
  command
      ->add_option("--host-config", options->host_config,
                   "Simulate what a host runs: [transport] of this file instead of the scenario's")
      ->type_name("openmrc.toml");
  command->add_flag("--baseline", options->baseline,
                    "Run it with RC (RoCEv2) as well, and compare");
  command
      ->add_option("--json", options->json,
                   "Write the result as JSON, for mrc sim compare and other programs; - writes it "
                   "to standard output instead of the table")
      ->type_name("FILE");
  command->add_option("--report", options->report, "Write a self-contained HTML page with charts")
      ->type_name("FILE.html");
  add_series_options(*command, options->series);
  command->add_flag("--faults-only", options->faults_only,
                    "Run nothing: print what breaks and when, with everything random drawn, as "
                    "[[fault]] of a scenario");
  command->add_flag("-q,--quiet", options->quiet, "No progress, and no summary of the run");
  command->footer(
      "Ctrl-C ends the run and prints the result so far.\n"
      "Exit code: 0 finished, 1 not finished or packet accounting inconsistent, 2 nothing was "
      "run.\n\n"
      "Examples:\n"
      "  mrc sim run examples/scenarios/first-run.toml\n"
      "  mrc sim run examples/scenarios/first-run.toml --baseline --report first-run.html\n"
      "  mrc sim run examples/scenarios/first-run.toml --set fabric.uplinks=4 --set fault=[]\n"
      "  mrc sim run examples/scenarios/first-run.toml --json - | jq .totals\n"
      "  mrc sim run result.json\n"
      "  mrc sim run examples/scenarios/first-run.toml --series run.csv --series-links 8\n"
      "  mrc sim run examples/scenarios/first-run.toml --seeds 10");
  command->callback([options, &exit_code] { exit_code = run_scenario(*options); });
}

void add_sweep(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<SweepOptions>();
  CLI::App* command = parent.add_subcommand(
      "sweep", "Run a scenario with many settings and seeds, and go on where it was stopped");
  command->add_option("file", options->file, "What to vary (TOML)")
      ->type_name("SWEEP.toml")
      ->required();
  command
      ->add_option("--out", options->folder,
                   "Folder for the results; default SWEEP.results in the working directory")
      ->type_name("DIR");
  command
      ->add_option("--shard", options->shard,
                   "Only part I (from 0) of N, for the tasks of a job on many machines")
      ->type_name("I/N");
  command->add_option("--jobs", options->jobs, "Runs at a time; default one per processor")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, kJobsMax).description(""));
  command
      ->add_option("--threads", options->threads,
                   "Threads of each run; default what the runs leave")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, kThreadsMax).description(""));
  command->add_flag("--again", options->again, "Run also what is there");
  command->add_flag("-n,--dry-run", options->dry_run, "Only print what would be run");
  command->add_flag("-q,--quiet", options->quiet, "No progress, and no summary");
  command->footer(
      "Results that are there and fit are not run again. Ctrl-C stops it; what is done stays.\n"
      "Exit code: 0 all results are there, 1 a run failed, 2 nothing was run, 130 stopped by "
      "Ctrl-C.\n\n"
      "Examples:\n"
      "  mrc sim sweep examples/sweeps/planes.toml\n"
      "  mrc sim sweep planes.toml --out /shared/planes --shard "
      "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT");
  command->callback([options, &exit_code] { exit_code = run_sweep(*options); });
}

void add_collect(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<CollectOptions>();
  CLI::App* command = parent.add_subcommand(
      "collect", "Make one table of many results: medians with intervals, and what is missing");
  command->add_option("folders", options->folders, "Folders of results, e.g. of mrc sim sweep")
      ->type_name("DIR")
      ->required();
  command
      ->add_option("--figures", options->figures,
                   "Figures to show, by their names in the JSON; default the main ones")
      ->type_name("NAME,...");
  command
      ->add_option("--csv", options->csv,
                   "Write all figures as CSV; - writes it to standard output instead of the table")
      ->type_name("FILE");
  command->add_option("--json", options->json, "Write all figures and runs as JSON; - as for --csv")
      ->type_name("FILE");
  command->add_option("--report", options->report, "Write a self-contained HTML page with charts")
      ->type_name("FILE.html");
  command
      ->add_option("--parts", options->parts,
                   "What fabrics are bought from (as for mrc fabric plan): adds cost and power")
      ->type_name("FILE");
  command->footer(
      "Exit code: 0 complete, 1 runs are missing or a file cannot be written, 2 nothing to "
      "collect.\n\n"
      "Examples:\n"
      "  mrc sim collect planes.results --report planes.html\n"
      "  mrc sim collect part-0 part-1 --figures goodput_bps,step_p99_ps");
  command->callback([options, &exit_code] { exit_code = collect_results(*options); });
}

struct CompareOptions {
  std::string first;
  std::string second;
  bool json = false;
};

int compare_results(const CompareOptions& options) {
  const auto first = load_result(options.first);
  const auto second = load_result(options.second);
  for (const auto* result : {&first, &second}) {
    if (*result) continue;
    complain("sim", result->error());
    return 2;
  }
  if (options.json) {
    std::cout << sim::compare_json(*first, *second);
    return 0;
  }
  const std::size_t width = std::max(options.first.size(), options.second.size());
  const auto line = [&](const char* place, const std::string& file, const sim::RunResult& result) {
    return fmt::format("{:<6}  {:<{}}  {}, {}, {} hosts, seed {}\n", place, file, width,
                       result.scenario, result.transport, result.hosts, result.seed);
  };
  std::cout << line("first", options.first, *first) << line("second", options.second, *second)
            << '\n'
            << sim::compare_text(*first, *second);
  return 0;
}

void add_compare(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command = parent.add_subcommand("compare", "Compare two results of mrc sim run --json");
  command->add_option("first", options->first, "Result to compare with")
      ->type_name("A.json")
      ->required();
  command->add_option("second", options->second, "Result that is compared with it")
      ->type_name("B.json")
      ->required();
  command->add_flag("--json", options->json, "One JSON object, for programs");
  command->footer(
      "Examples:\n"
      "  mrc sim run x.toml --json 1.json; mrc sim run x.toml --seed 2 --json 2.json\n"
      "  mrc sim compare 1.json 2.json");
  command->callback([options, &exit_code] { exit_code = compare_results(*options); });
}

void add_list(CLI::App& parent, int& exit_code) {
  const auto folder = std::make_shared<std::string>();
  CLI::App* command = parent.add_subcommand("list", "List scenarios with their titles");
  command->add_option("folder", *folder, "Folder of scenarios; default those of OpenMRC")
      ->type_name("DIR");
  command->callback([folder, &exit_code] { exit_code = list_scenarios(*folder); });
}

}  // namespace

void add_sim_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("sim", "Simulate a whole fabric: jobs, faults, and their effect");
  command->require_subcommand(0, 1);
  command->callback([command, &exit_code] {
    if (!command->get_subcommands().empty()) return;
    std::cout << command->help("mrc");
    exit_code = 2;
  });
  add_run(*command, exit_code);
  add_sweep(*command, exit_code);
  add_availability(*command, exit_code);
  add_search(*command, exit_code);
  add_collect(*command, exit_code);
  add_compare(*command, exit_code);
  add_list(*command, exit_code);
}

}  // namespace openmrc::tools
