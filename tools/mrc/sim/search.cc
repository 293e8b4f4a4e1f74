// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "openmrc/host/interrupt.h"
#include "openmrc/sim/result/measures.h"
#include "openmrc/sim/search/evolution.h"
#include "openmrc/sim/search/search_file.h"
#include "openmrc/sim/search/shrinker.h"
#include "openmrc/text/file_limits.h"
#include "openmrc/text/numbers.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/read_file.h"
#include "tools/mrc/sim/exit_status.h"
#include "tools/mrc/sim/files.h"
#include "tools/mrc/sim/prepare.h"
#include "tools/mrc/sim/processes.h"
#include "tools/mrc/sim/progress_line.h"
#include "tools/mrc/sim/trial.h"

namespace openmrc::tools {
namespace {

namespace fs = std::filesystem;

// More rounds make times rounder, not the finding clearer.
constexpr std::size_t kShrinkRoundsMax = 100;

struct LoadedSearch {
  TrialSettings trial;
  std::string scenario{};  // the text of its file
};

Result<LoadedSearch, std::string> load_search(const SearchOptions& options) {
  const auto text = read_file(options.file, text::kTomlBytesMax);
  if (!text) return failure(text.error());
  auto file = sim::parse_search_file(*text);
  if (!file) {
    for (text::FileError& error : file.error()) error.file = options.file;
    return failure(to_string(file.error()));
  }
  if (options.runs != 0) file->runs = options.runs;
  if (options.seed) file->evolution.seed = *options.seed;
  file->evolution.random = std::min(file->evolution.random, file->runs);
  auto loaded = load_scenario((fs::path(options.file).parent_path() / file->scenario).string());
  if (!loaded) return failure(loaded.error());
  if (!loaded->scenario.faults.empty()) {
    return failure(
        fmt::format("'{}' has faults of its own; take them out of the scenario of a "
                    "search",
                    file->scenario));
  }
  if (loaded->scenario.time_limit == Picoseconds{}) {
    return failure(fmt::format("'{}' needs a time_limit: with some faults it may never be done",
                               file->scenario));
  }
  auto space = sim::space_of(*file, *fabric::Fabric::make(loaded->scenario.shape));
  if (!space) return failure(fmt::format("{}: {}", options.file, space.error()));
  const std::string scenario = loaded->inputs.scenario;
  return LoadedSearch{.trial = {.inputs = std::move(loaded->inputs),
                                .file = std::move(*file),
                                .space = std::move(*space),
                                .processes = processes_for(options.jobs)},
                      .scenario = scenario};
}

std::string out_of(const SearchOptions& options) {
  return options.out.empty() ? fs::path(options.file).stem().string() + ".worst.toml" : options.out;
}

class Search {
 public:
  Search(const LoadedSearch& loaded, const SearchOptions& options)
      : trial_(loaded.trial),
        file_(loaded.trial.file),
        options_(options),
        scenario_(loaded.scenario),
        evolution_(loaded.trial.space, loaded.trial.file.evolution),
        line_(options.quiet) {}

  int run() {
    if (const auto harms = attempt(std::vector<sim::Schedule>(1))) without_faults_ = harms->at(0);
    while (goes_on()) search_once();
    if (evolution_.tried() == 0) return last_word();
    simplest_ = evolution_.worst();
    if (!stopped_) shrink();
    const std::string problem = write_whole(out_of(options_), scenario_file());
    if (!problem.empty()) return complain("sim", problem);
    std::cout << summary() << std::flush;
    return last_word();
  }

 private:
  [[nodiscard]] bool goes_on() const {
    const bool in_time = options_.minutes == 0 || line_.seconds() < options_.minutes * 60;
    return !stopped_ && in_time && evolution_.tried() < file_.runs;
  }

  // What they did; nothing if that could not be found out.
  std::optional<std::vector<double>> attempt(std::span<const sim::Schedule> schedules) {
    TrialOutcome outcome = try_schedules(schedules, trial_);
    for (const std::string& failed : outcome.failures) complain("sim", failed);
    failed_ = failed_ || !outcome.failures.empty();
    stopped_ = stopped_ || failed_ || outcome.interrupted;
    if (stopped_) return std::nullopt;
    return std::move(outcome.harms);
  }

  void search_once() {
    const std::vector<sim::Schedule>& schedules = evolution_.ask();
    if (const auto harms = attempt(schedules)) evolution_.tell(*harms);
    line_.show([&] { return progress(); });
  }

  void shrink() {
    const double keep = static_cast<double>(file_.keep) / text::kShareOne;
    const double found = simplest_.harm;
    const double harm_min =
        std::isinf(found) ? found : without_faults_ + keep * (found - without_faults_);
    sim::Shrinker shrinker(trial_.space, simplest_, harm_min);
    for (std::size_t round = 0; round < kShrinkRoundsMax && !stopped_; ++round) {
      const std::vector<sim::Schedule>& schedules = shrinker.ask();
      if (schedules.empty()) break;
      shrink_runs_ += schedules.size();
      if (const auto harms = attempt(schedules)) shrinker.tell(*harms);
      line_.show([&] { return fmt::format("{}: shrinking, round {}", name(), round + 1); });
    }
    simplest_ = shrinker.simplest();
  }

  [[nodiscard]] int last_word() const {
    if (failed_) return kNotFinished;
    return stopped_ ? host::interrupt_exit_code() : kAllWell;
  }

  [[nodiscard]] std::string name() const { return fs::path(options_.file).stem().string(); }
  [[nodiscard]] double worst_random() const { return std::ranges::max(evolution_.random_harms()); }
  [[nodiscard]] std::string times(double harm) const {
    const double times = times_as_bad(harm, worst_random(), file_);
    return times == 0 ? "" : fmt::format(", {:.2f} times as bad as the worst random one", times);
  }

  [[nodiscard]] std::string progress() const {
    if (evolution_.tried() == 0) return name() + ": stopped";
    const sim::Tried& worst = evolution_.worst();
    return fmt::format(
        "{}: {} of {} runs, worst {}{}{}", name(), text::grouped(evolution_.tried()),
        text::grouped(file_.runs), figure_text(worst.harm, file_), times(worst.harm),
        line_.time_left(static_cast<double>(evolution_.tried()) / static_cast<double>(file_.runs)));
  }

  // Each line without its beginning: "# " in the file.
  [[nodiscard]] std::vector<std::string> findings() const {
    std::vector<double> random = evolution_.random_harms();
    std::ranges::sort(random);
    const sim::Tried& found = evolution_.worst();
    std::vector<std::string> lines{
        fmt::format("{}, without faults: {}",
                    sim::measures()[*sim::find_measure(file_.figure)].label,
                    figure_text(without_faults_, file_)),
        fmt::format("{} random schedules: median {}, worst {}", text::grouped(random.size()),
                    figure_text(random[(random.size() - 1) / 2], file_),
                    figure_text(random.back(), file_)),
        fmt::format("found after {} runs: {} with {} faults{}", text::grouped(evolution_.tried()),
                    figure_text(found.harm, file_), found.schedule.size(), times(found.harm))};
    if (shrink_runs_ > 0) {
      lines.push_back(fmt::format("shrunk by {} runs: {} with {} faults{}",
                                  text::grouped(shrink_runs_), figure_text(simplest_.harm, file_),
                                  simplest_.schedule.size(), times(simplest_.harm)));
    }
    return lines;
  }

  [[nodiscard]] std::string scenario_file() const {
    std::string text = scenario_;
    if (!text.empty() && text.back() != '\n') text += '\n';
    text += fmt::format("\n# Found by 'mrc sim search {} --seed {} --runs {}' ({}).\n",
                        fs::path(options_.file).filename().string(), file_.evolution.seed,
                        evolution_.tried(), program_name());
    for (const std::string& line : findings()) text += "# " + line + "\n";
    return text + schedule_text(simplest_.schedule, trial_.space.fabric);
  }

  [[nodiscard]] std::string summary() const {
    std::string text;
    for (const std::string& line : findings()) text += line + "\n";
    return text + fmt::format("written: {}\n", out_of(options_));
  }

  const TrialSettings& trial_;
  const sim::SearchFile& file_;
  const SearchOptions& options_;
  const std::string& scenario_;
  sim::Evolution evolution_;
  ProgressLine line_;
  double without_faults_ = 0;
  sim::Tried simplest_{};
  std::size_t shrink_runs_ = 0;
  bool failed_ = false;   // a run
  bool stopped_ = false;  // by that, or by Ctrl-C
};

}  // namespace

int run_search(const SearchOptions& options) {
  const auto refuse = [](const std::string& why) {
    complain("sim", why);
    return kNothingRun;
  };
  const auto loaded = load_search(options);
  if (!loaded) return refuse(loaded.error());
  if (const std::string problem = problem_with_output(out_of(options)); !problem.empty()) {
    return refuse(problem);
  }
  return Search(*loaded, options).run();
}

}  // namespace openmrc::tools
