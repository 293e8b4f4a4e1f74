// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/collect_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "openmrc/sim/experiment/axes.h"
#include "openmrc/sim/experiment/sweep_plan.h"
#include "openmrc/sim/result/origin.h"
#include "openmrc/sim/result/result_json.h"
#include "openmrc/text/file_limits.h"
#include "tools/mrc/read_file.h"
#include "tools/mrc/sim/baseline.h"
#include "tools/mrc/sim/files.h"

namespace openmrc::tools {
namespace {

namespace fs = std::filesystem;
using sim::ExperimentRun;
using sim::PlannedRun;
using sim::SweepPlan;

// What is kept of a result; its records may be many.
struct RunFile {
  ExperimentRun run;
  sim::RunLabels labels;
  std::string hash{};     // of its inputs; empty: it does not say
  std::string program{};  // that made it
};

// Of the fabric that was simulated: for the baseline it has one plane.
std::optional<fabric::Shape> shape_of(const sim::RunInputs& inputs) {
  auto scenario = parse_inputs(inputs);
  if (!scenario) return std::nullopt;
  return inputs.transport == "rc" ? as_rc(std::move(*scenario)).shape : scenario->shape;
}

Result<RunFile, std::string> load_run(const std::string& path) {
  const auto text = read_file(path, text::kJsonBytesMax);
  if (!text) return failure(text.error());
  const auto result = sim::read_result_json(*text);
  if (!result) return failure(fmt::format("'{}' is left out: {}", path, result.error()));
  const auto origin = sim::read_origin(*text);
  if (!origin) return failure(fmt::format("'{}' is left out: {}", path, origin.error()));
  RunFile file{
      .run = {.seed = result->seed, .finished = result->finished, .figures = measure(*result)},
      .labels = {.scenario = result->scenario, .transport = result->transport}};
  if (*origin) {
    file.labels.settings = (*origin)->inputs.settings;
    file.hash = inputs_hash((*origin)->inputs);
    file.program = (*origin)->program;
    file.run.shape = shape_of((*origin)->inputs);
  }
  return file;
}

Result<std::vector<fs::path>, std::string> json_files(const std::string& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    if (at->path().extension() == ".json") files.push_back(at->path());
  }
  if (error) {
    return failure(fmt::format("cannot read the folder '{}': {}", folder, error.message()));
  }
  std::ranges::sort(files);
  return files;
}

class Collector {
 public:
  explicit Collector(const std::vector<std::string>& folders) : folders_(folders) {}

  Result<CollectedRuns, std::string> collect() {
    for (const std::string& folder : folders_) {
      auto files = json_files(folder);
      if (!files) return failure(files.error());
      for (const fs::path& file : *files) {
        if (file.filename() != sim::kPlanFile) {
          files_.push_back(file);
        } else if (auto added = add_plan(file.string()); !added) {
          return failure(added.error());
        }
      }
    }
    if (plan_) {
      collect_planned();
    } else {
      collect_all();
    }
    remark_programs();
    return std::move(collected_);
  }

 private:
  Result<void, std::string> add_plan(const std::string& path) {
    const auto text = read_file(path, text::kJsonBytesMax);
    if (!text) return failure(text.error());
    auto plan = sim::read_plan_json(*text);
    if (!plan) {
      return failure(fmt::format("'{}' is not the plan of a sweep: {}", path, plan.error()));
    }
    if (!plan_) {
      plan_ = std::move(*plan);
    } else if (plan_->axes != plan->axes) {
      return failure(fmt::format(
          "'{}' is of a sweep with other axes than the folders before it; collect them one by one",
          path));
    } else if (*plan_ != *plan) {
      std::ranges::copy_if(plan->runs, std::back_inserter(plan_->runs), [&](const PlannedRun& run) {
        return std::ranges::find(plan_->runs, run) == plan_->runs.end();
      });
    }
    return {};
  }

  // Null if it is nowhere, or is not what the plan wants.
  std::optional<RunFile> find_run(const PlannedRun& planned) {
    for (const std::string& folder : folders_) {
      const std::string path = (fs::path(folder) / file_of(planned)).string();
      std::error_code ignored;
      if (!fs::exists(path, ignored)) continue;
      auto file = load_run(path);
      if (file && file->hash == planned.hash) return std::move(*file);
      collected_.remarks.push_back(
          file ? fmt::format("'{}' is left out: it is not the run of the plan", path)
               : file.error());
    }
    return std::nullopt;
  }

  void collect_planned() {
    sim::Experiment& experiment = collected_.experiment;
    experiment.title = plan_->title;
    experiment.axes = plan_->axes;
    for (const PlannedRun& planned : plan_->runs) {
      auto file = find_run(planned);
      if (!file) {
        experiment.missing.push_back(name_of(*plan_, planned));
        continue;
      }
      file->run.values = planned.values;
      programs_.insert(file->program);
      experiment.runs.push_back(std::move(file->run));
    }
  }

  void collect_all() {
    std::vector<sim::RunLabels> labels;
    for (const fs::path& path : files_) {
      auto file = load_run(path.string());
      if (!file) {
        collected_.remarks.push_back(file.error());
        continue;
      }
      programs_.insert(file->program);
      labels.push_back(std::move(file->labels));
      collected_.experiment.runs.push_back(std::move(file->run));
    }
    sim::FoundAxes found = find_axes(labels);
    collected_.experiment.axes = std::move(found.axes);
    for (std::size_t i = 0; i < found.values.size(); ++i) {
      collected_.experiment.runs[i].values = std::move(found.values[i]);
    }
  }

  // Versions may behave differently, and so may results that do not say.
  void remark_programs() {
    if (programs_.size() < 2) return;
    std::string names;
    for (const std::string& program : programs_) {
      names += (names.empty() ? "" : ", ") + (program.empty() ? "unknown" : program);
    }
    collected_.remarks.push_back("the results were made by different programs: " + names);
  }

  const std::vector<std::string>& folders_;
  std::vector<fs::path> files_{};  // but for the plans
  std::optional<SweepPlan> plan_{};
  std::set<std::string> programs_{};
  CollectedRuns collected_{};
};

}  // namespace

Result<CollectedRuns, std::string> load_experiment(const std::vector<std::string>& folders) {
  return Collector(folders).collect();
}

}  // namespace openmrc::tools
