// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "openmrc/host/interrupt.h"
#include "openmrc/text/file_limits.h"
#include "openmrc/text/numbers.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/read_file.h"
#include "tools/mrc/sim/exit_status.h"
#include "tools/mrc/sim/files.h"
#include "tools/mrc/sim/make_result.h"
#include "tools/mrc/sim/prepare.h"
#include "tools/mrc/sim/processes.h"
#include "tools/mrc/sim/sweep_load.h"

namespace openmrc::tools {
namespace {

namespace fs = std::filesystem;

struct Shard {
  std::size_t index = 0;
  std::size_t count = 1;
};

std::optional<std::size_t> number_of(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<Shard, std::string> shard_of(const std::string& text) {
  if (text.empty()) return Shard{};
  const std::size_t slash = text.find('/');
  const auto index = number_of(std::string_view(text).substr(0, slash));
  const auto count = slash == std::string::npos
                         ? std::nullopt
                         : number_of(std::string_view(text).substr(slash + 1));
  if (index && count && *index < *count) return Shard{*index, *count};
  return failure(fmt::format(
      "--shard: '{}' is not I/N with I from 0 to N-1, e.g. 0/4 for the first of four", text));
}

class SweepRun {
 public:
  SweepRun(const LoadedSweep& sweep, Shard shard, const SweepOptions& options)
      : sweep_(sweep), options_(options), folder_(folder_of(options)) {
    for (std::size_t i = shard.index; i < sweep.plan.runs.size(); i += shard.count) {
      mine_.push_back(i);
    }
  }

  int run() {
    find_missing();
    if (options_.dry_run) return list();
    if (const std::string problem = write_plan(); !problem.empty()) {
      complain("sim", problem);
      return kNothingRun;
    }
    const JobOutcome outcome =
        run_in_processes(jobs(), {.name = fs::path(options_.file).stem().string(),
                                  .processes = processes_for(options_.jobs),
                                  .quiet = options_.quiet});
    for (const std::string& failed : outcome.failures) complain("sim", failed);
    report(outcome);
    if (outcome.interrupted) return host::interrupt_exit_code();
    return outcome.failures.empty() ? 0 : kNotFinished;
  }

 private:
  [[nodiscard]] std::string path_of(std::size_t run) const {
    return (fs::path(folder_) / file_of(sweep_.plan.runs[run])).string();
  }

  // By what the file itself says that it is of.
  [[nodiscard]] bool is_there(std::size_t run) const {
    const auto text = read_file(path_of(run), text::kJsonBytesMax);
    if (!text) return false;
    const auto origin = sim::read_origin(*text);
    return origin && *origin && (*origin)->program == program_name() &&
           inputs_hash((*origin)->inputs) == sweep_.plan.runs[run].hash;
  }

  void find_missing() {
    std::ranges::copy_if(mine_, std::back_inserter(missing_),
                         [&](std::size_t run) { return options_.again || !is_there(run); });
  }

  [[nodiscard]] int list() const {
    for (const std::size_t run : missing_) {
      std::cout << file_of(sweep_.plan.runs[run]) << "  "
                << name_of(sweep_.plan, sweep_.plan.runs[run]) << '\n';
    }
    return 0;
  }

  // Every shard writes the same.
  [[nodiscard]] std::string write_plan() const {
    std::error_code error;
    fs::create_directories(folder_, error);
    if (error) return fmt::format("cannot make the folder '{}': {}", folder_, error.message());
    return write_whole((fs::path(folder_) / sim::kPlanFile).string(), write_plan_json(sweep_.plan));
  }

  [[nodiscard]] std::vector<Job> jobs() const {
    const std::size_t threads = options_.threads != 0
                                    ? options_.threads
                                    : std::max<std::size_t>(1, std::thread::hardware_concurrency() /
                                                                   processes_for(options_.jobs));
    std::vector<Job> jobs;
    jobs.reserve(missing_.size());
    for (const std::size_t run : missing_) {
      jobs.push_back({.name = name_of(sweep_.plan, sweep_.plan.runs[run]),
                      .work = sweep_.variant_of(run).work,
                      .run = [this, run, threads] {
                        return make_result(sweep_.inputs_of(run), path_of(run), threads);
                      }});
    }
    return jobs;
  }

  void report(const JobOutcome& outcome) const {
    if (outcome.interrupted) {
      complain("sim", fmt::format("stopped: {} of {} results are there; the same command goes on",
                                  text::grouped(mine_.size() - missing_.size() + outcome.done),
                                  text::grouped(mine_.size())));
    } else if (!options_.quiet && options_.summary) {
      std::cout << fmt::format("{}: {} runs, {} done now, {} were there, {} failed\n", folder_,
                               text::grouped(mine_.size()), text::grouped(outcome.done),
                               text::grouped(mine_.size() - missing_.size()),
                               text::grouped(outcome.failures.size()));
    }
  }

  const LoadedSweep& sweep_;
  const SweepOptions& options_;
  std::string folder_;
  std::vector<std::size_t> mine_{};     // runs of this shard
  std::vector<std::size_t> missing_{};  // of those
};

}  // namespace

std::string folder_of(const SweepOptions& options) {
  return options.folder.empty() ? fs::path(options.file).stem().string() + ".results"
                                : options.folder;
}

int run_sweep(const LoadedSweep& sweep, const SweepOptions& options) {
  return SweepRun(sweep, {}, options).run();
}

int run_sweep(const SweepOptions& options) {
  const auto refuse = [](const std::string& why) {
    complain("sim", why);
    return kNothingRun;
  };
  const auto shard = shard_of(options.shard);
  if (!shard) return refuse(shard.error());
  const auto sweep = load_sweep(options.file);
  if (!sweep) return refuse(sweep.error());
  return SweepRun(*sweep, *shard, options).run();
}

}  // namespace openmrc::tools
