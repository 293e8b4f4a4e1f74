// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <vector>

#include "openmrc/text/numbers.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/sim/files.h"
#include "tools/mrc/sim/text.h"

namespace openmrc::tools {
namespace {

namespace fs = std::filesystem;

struct ScenarioRow {
  std::string file{};
  std::string hosts{};
  std::string title{};
};

// The scenarios that came with this program: in the share folder beside it where it is installed,
// or in the tree that it was built in, or in the one that we stand in.
std::optional<fs::path> scenarios_that_came_along() {
  std::error_code error;
  std::vector<fs::path> places{"examples/scenarios"};
  for (fs::path at = fs::read_symlink("/proc/self/exe", error); at.has_relative_path();) {
    at = at.parent_path();
    places.push_back(at / "share/openmrc/scenarios");
    places.push_back(at / "examples/scenarios");
  }
  const auto found = std::ranges::find_if(
      places, [&](const fs::path& place) { return fs::is_directory(place, error); });
  if (found == places.end()) return std::nullopt;
  return *found;
}

std::vector<fs::path> scenario_files(const fs::path& folder, std::error_code& error) {
  std::vector<fs::path> files;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    if (at->path().extension() == ".toml") files.push_back(at->path());
  }
  std::ranges::sort(files);
  return files;
}

void print(const std::vector<ScenarioRow>& rows) {
  std::size_t file_width = 0;
  std::size_t hosts_width = 0;
  for (const ScenarioRow& row : rows) {
    file_width = std::max(file_width, row.file.size());
    hosts_width = std::max(hosts_width, row.hosts.size());
  }
  for (const ScenarioRow& row : rows) {
    std::cout << fmt::format("{:<{}}  {:>{}}  {}\n", row.file, file_width, row.hosts, hosts_width,
                             row.title);
  }
}

}  // namespace

int list_scenarios(const std::string& folder) {
  const std::optional<fs::path> place =
      folder.empty() ? scenarios_that_came_along() : std::optional<fs::path>(folder);
  if (!place) {
    complain("sim",
             "the scenarios that come with OpenMRC are not where this program is; give a folder");
    return 2;
  }
  std::error_code error;
  const std::vector<fs::path> files = scenario_files(*place, error);
  if (error) {
    complain("sim",
             fmt::format("cannot read the folder '{}': {}", place->string(), error.message()));
    return 2;
  }
  if (files.empty()) complain("sim", fmt::format("no scenarios (*.toml) in '{}'", place->string()));
  std::vector<ScenarioRow> rows;
  bool all_well = true;
  for (const fs::path& file : files) {
    const auto loaded = load_scenario(file.string());
    if (!loaded) {
      complain("sim", loaded.error());
      all_well = false;
      continue;
    }
    const fabric::Shape& shape = loaded->scenario.shape;
    rows.push_back({.file = file.string(),
                    .hosts = text::grouped(shape.racks * shape.hosts_per_rack) + " hosts",
                    .title = loaded->scenario.title});
  }
  print(rows);
  return all_well ? 0 : 1;
}

}  // namespace openmrc::tools
