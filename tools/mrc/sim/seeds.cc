// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/seeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <limits>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "openmrc/sim/experiment/experiment_page.h"
#include "openmrc/sim/experiment/summary.h"
#include "openmrc/sim/experiment/summary_text.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/sim/exit_status.h"
#include "tools/mrc/sim/files.h"
#include "tools/mrc/sim/make_result.h"
#include "tools/mrc/sim/processes.h"
#include "tools/mrc/sim/text.h"

namespace openmrc::tools {
namespace {

namespace fs = std::filesystem;

// Results of the runs until they are read.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code ignored;
    std::string name = (fs::temp_directory_path(ignored) / "mrc-sim-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  [[nodiscard]] bool is_there() const { return !path_.empty(); }
  [[nodiscard]] std::string file_of(std::uint64_t seed) const {
    return (path_ / fmt::format("{}.json", seed)).string();
  }

 private:
  fs::path path_;
};

class Seeds {
 public:
  Seeds(const PreparedRun& prepared, const SimRunOptions& options)
      : prepared_(prepared), options_(options), processes_(processes_for(options.jobs)) {
    experiment_.title = prepared.scenario.title;
  }

  int run() {
    if (!folder_.is_there()) {
      complain("sim",
               "cannot make a folder for temporary files; set TMPDIR to one that can be written");
      return kNothingRun;
    }
    const JobOutcome outcome = run_in_processes(
        jobs(), {.name = prepared_.inputs.name, .processes = processes_, .quiet = options_.quiet});
    for (const std::string& failed : outcome.failures) complain("sim", failed);
    gather();
    print();
    const bool written = write();
    const std::string warning = experiment_warning(experiment_);
    if (!warning.empty()) complain("sim", warning);
    return written && warning.empty() ? 0 : kNotFinished;
  }

 private:
  [[nodiscard]] std::uint64_t last_seed() const {
    return prepared_.inputs.seed + options_.seeds - 1;
  }

  [[nodiscard]] std::vector<Job> jobs() const {
    const std::size_t threads =
        options_.threads != 0
            ? options_.threads
            : std::max<std::size_t>(1, std::thread::hardware_concurrency() / processes_);
    std::vector<Job> jobs;
    for (std::uint64_t seed = prepared_.inputs.seed; seed <= last_seed(); ++seed) {
      jobs.push_back({.name = fmt::format("seed {}", seed), .run = [this, seed, threads] {
                        sim::RunInputs inputs = prepared_.inputs;
                        inputs.seed = seed;
                        return make_result(inputs, folder_.file_of(seed), threads);
                      }});
    }
    return jobs;
  }

  void gather() {
    for (std::uint64_t seed = prepared_.inputs.seed; seed <= last_seed(); ++seed) {
      const auto result = load_result(folder_.file_of(seed));
      if (!result) {
        experiment_.missing.push_back(fmt::format("seed {}", seed));
        continue;
      }
      experiment_.runs.push_back(
          {.seed = seed, .finished = result->finished, .figures = measure(*result)});
    }
  }

  void print() const {
    if (options_.json == "-") {
      std::cout << sim::experiment_json(experiment_) << std::flush;
      return;
    }
    const std::vector<sim::Group> groups = groups_of(experiment_);
    if (groups.empty()) return;
    std::cout << fmt::format("{}{}{}\nseeds {} to {}\n\n", prepared_.inputs.name,
                             experiment_.title.empty() ? "" : ": ", experiment_.title,
                             prepared_.inputs.seed, last_seed())
              << sim::group_text(groups.front()) << '\n'
              << wrapped(interval_note(groups)) << std::flush;
  }

  [[nodiscard]] bool write() const {
    std::string problem;
    if (!options_.json.empty() && options_.json != "-") {
      problem = write_text(options_.json, sim::experiment_json(experiment_));
    }
    if (problem.empty() && !options_.report.empty()) {
      problem = write_text(options_.report,
                           experiment_page(experiment_, main_measures(groups_of(experiment_))));
    }
    if (!problem.empty()) complain("sim", problem);
    return problem.empty();
  }

  const PreparedRun& prepared_;
  const SimRunOptions& options_;
  std::size_t processes_;
  ScratchFolder folder_;
  sim::Experiment experiment_;
};

}  // namespace

int run_seeds(const SimRunOptions& options) {
  const auto refuse = [](const std::string& why) {
    complain("sim", why);
    return kNothingRun;
  };
  const auto prepared = prepare(options);
  if (!prepared) return refuse(prepared.error());
  constexpr std::uint64_t kSeedMax = std::numeric_limits<std::int64_t>::max();
  if (prepared->inputs.seed > kSeedMax - options.seeds) {
    return refuse(fmt::format("--seeds: there are no {} seeds from {} on", options.seeds,
                              prepared->inputs.seed));
  }
  return Seeds(*prepared, options).run();
}

}  // namespace openmrc::tools
