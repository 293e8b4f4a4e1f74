// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/search_command.h"

#include <cstdint>
#include <limits>
#include <memory>

#include "openmrc/sim/search/search_file.h"
#include "tools/mrc/sim/search.h"

namespace openmrc::tools {
namespace {

constexpr std::size_t kSearchJobsMax = 1024;
constexpr double kMinutesMax = 60.0 * 24 * 365;

}  // namespace

void add_search(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<SearchOptions>();
  CLI::App* command = parent.add_subcommand(
      "search", "Look for the faults that hurt a figure most, and write them as a scenario");
  command->add_option("file", options->file, "What to look for (TOML)")
      ->type_name("SEARCH.toml")
      ->required();
  command
      ->add_option("--out", options->out,
                   "Scenario to write; default SEARCH.worst.toml in the working directory")
      ->type_name("FILE");
  command->add_option("--runs", options->runs, "Runs in all, instead of the file's")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, sim::kSearchRunsMax).description(""));
  command->add_option("--minutes", options->minutes, "Shrink what was found after so long")
      ->type_name("M")
      ->check(CLI::Range(0.0, kMinutesMax).description(""));
  command->add_option("--seed", options->seed, "Seed of the search instead of the one in the file")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{std::numeric_limits<std::int64_t>::max()})
                  .description(""));
  command->add_option("--jobs", options->jobs, "Runs at a time; default one per processor")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, kSearchJobsMax).description(""));
  command->add_flag("-q,--quiet", options->quiet, "No progress");
  command->footer(
      "Ctrl-C ends the search, and the worst that was found so far is written as it is.\n"
      "Exit code: 0 written, 1 a run failed or the file cannot be written, 2 nothing was run, 130 "
      "stopped by Ctrl-C.\n\n"
      "Examples:\n"
      "  mrc sim search examples/searches/completion.toml\n"
      "  mrc sim search examples/searches/completion.toml --seed 7 --minutes 30 --out worst.toml");
  command->callback([options, &exit_code] { exit_code = run_search(*options); });
}

}  // namespace openmrc::tools
