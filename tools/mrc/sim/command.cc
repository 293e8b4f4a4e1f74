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
#include "tools/mrc/sim/files.h"
#include "tools/mrc/sim/list.h"
#include "tools/mrc/sim/run.h"
#include "tools/mrc/sim/text.h"

namespace openmrc::tools {
namespace {

// More threads than any machine of today has processors.
constexpr std::size_t kThreadsMax = 1024;

void add_run(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<SimRunOptions>();
  CLI::App* command =
      parent.add_subcommand("run", "Run a scenario and print the result as a table");
  command->add_option("scenario", options->file, "Scenario file (TOML)")
      ->type_name("SCENARIO.toml")
      ->required();
  command
      ->add_option("--threads", options->threads,
                   "Threads; default one per processor, fewer for a small fabric. The result "
                   "does not depend on it")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, kThreadsMax).description(""));
  command->add_option("--seed", options->overrides.seed, "Seed instead of the one in the scenario")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{std::numeric_limits<std::int64_t>::max()})
                  .description(""));
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
  command->add_flag("-q,--quiet", options->quiet, "No progress, and no summary of the run");
  command->footer(
      "Ctrl-C ends the run and prints the result so far.\n"
      "Exit code: 0 finished, 1 not finished or packet accounting inconsistent, 2 nothing was "
      "run.\n\n"
      "Examples:\n"
      "  mrc sim run examples/scenarios/first-run.toml\n"
      "  mrc sim run examples/scenarios/first-run.toml --baseline --report first-run.html\n"
      "  mrc sim run examples/scenarios/first-run.toml --set fabric.uplinks=4 --set fault=[]\n"
      "  mrc sim run examples/scenarios/first-run.toml --json - | jq .totals");
  command->callback([options, &exit_code] { exit_code = run_scenario(*options); });
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
  add_compare(*command, exit_code);
  add_list(*command, exit_code);
}

}  // namespace openmrc::tools
