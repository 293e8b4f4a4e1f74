// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/collect.h"

#include <fmt/format.h>

#include <iostream>
#include <optional>
#include <sstream>
#include <utility>

#include "openmrc/base/result.h"
#include "openmrc/sim/experiment/aligned.h"
#include "openmrc/sim/experiment/experiment_page.h"
#include "openmrc/sim/experiment/fabric_costs.h"
#include "openmrc/sim/experiment/summary.h"
#include "openmrc/sim/experiment/summary_text.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/fabric/load.h"
#include "tools/mrc/sim/collect_load.h"
#include "tools/mrc/sim/exit_status.h"
#include "tools/mrc/sim/files.h"
#include "tools/mrc/sim/text.h"

namespace openmrc::tools {
namespace {

int refuse(const std::string& why) {
  complain("sim", why);
  return kNothingRun;
}

Result<std::vector<std::size_t>, std::string> shown_figures(const std::string& keys) {
  std::vector<std::size_t> shown;
  std::istringstream parts(keys);
  for (std::string key; std::getline(parts, key, ',');) {
    const auto index = sim::find_measure(key);
    if (!index) {
      std::string known;
      for (const sim::Measure& measure : sim::measures()) known += fmt::format(" {}", measure.key);
      return failure(fmt::format("--figures: there is no '{}'; there are{}", key, known));
    }
    shown.push_back(*index);
  }
  return shown;
}

std::string usage_problem(const CollectOptions& options) {
  if (options.csv == "-" && options.json == "-") {
    return "--csv and --json cannot both go to standard output; give one of them a file";
  }
  for (const std::string& path : {options.csv, options.json, options.report}) {
    if (path.empty() || path == "-") continue;
    if (std::string problem = problem_with_output(path); !problem.empty()) return problem;
  }
  return {};
}

using PartsGiven = std::optional<fabric::Parts>;

void print_table(const sim::Experiment& experiment, const std::vector<std::size_t>& shown,
                 const PartsGiven& parts) {
  if (!experiment.title.empty()) std::cout << experiment.title << "\n\n";
  std::cout << sim::groups_text(experiment, shown) << '\n'
            << wrapped(interval_note(groups_of(experiment)));
  const auto costs = sim::fabric_costs(experiment, parts);
  if (!parts || costs.empty()) return;
  std::cout << '\n'
            << sim::aligned(cost_table(costs, parts), 1) << '\n'
            << wrapped(sim::cost_note(parts));
}

bool write(const CollectOptions& options, const sim::Experiment& experiment,
           const std::vector<std::size_t>& shown, const PartsGiven& parts) {
  if (options.csv != "-" && options.json != "-") print_table(experiment, shown, parts);
  bool written = true;
  const auto put = [&](const std::string& path, const auto& make) {
    if (path.empty()) return;
    if (path == "-") {
      std::cout << make();
      return;
    }
    const std::string problem = write_text(path, make());
    if (!problem.empty()) complain("sim", problem);
    written = written && problem.empty();
  };
  put(options.csv, [&] { return sim::experiment_csv(experiment); });
  put(options.json, [&] { return sim::experiment_json(experiment); });
  put(options.report, [&] { return sim::experiment_page(experiment, shown, parts); });
  std::cout << std::flush;
  return written;
}

}  // namespace

int collect_results(const CollectOptions& options) {
  if (const std::string problem = usage_problem(options); !problem.empty()) return refuse(problem);
  auto shown = shown_figures(options.figures);
  if (!shown) return refuse(shown.error());
  PartsGiven parts;
  if (!options.parts.empty()) {
    auto loaded = load_parts(options.parts);
    if (!loaded) return refuse(loaded.error());
    parts = std::move(*loaded);
  }
  const auto collected = load_experiment(options.folders);
  if (!collected) return refuse(collected.error());
  for (const std::string& remark : collected->remarks) complain("sim", remark);
  const sim::Experiment& experiment = collected->experiment;
  const std::string warning = experiment_warning(experiment);
  if (!warning.empty()) complain("sim", warning);
  if (experiment.runs.empty()) return refuse("no results to collect; 'mrc sim sweep' makes them");
  if (shown->empty()) *shown = main_measures(groups_of(experiment));
  const bool written = write(options, experiment, *shown, parts);
  return written && experiment.missing.empty() ? 0 : kNotFinished;
}

}  // namespace openmrc::tools
