// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/search/search_file.h"

#include <fmt/format.h>

#include <array>

#include "openmrc/sim/result/measures.h"
#include "openmrc/sim/scenario/fault_fields.h"
#include "openmrc/text/table_reader.h"

namespace openmrc::sim {
namespace {

using text::Field;
using text::TableReader;

// In the order of the enumerators.
constexpr std::array<std::string_view, 3> kSearchedKinds{"cut", "loss", "slow"};
static_assert(static_cast<int>(SearchedKind::kSlow) == 2);
constexpr std::array<std::string_view, 2> kWorstWords{"most", "least"};
constexpr std::array<std::string_view, 2> kUnfinishedWords{"worst", "skipped"};

template <class T>
void read_words(TableReader& top, std::string_view key, std::span<const std::string_view> words,
                std::vector<T>& list) {
  if (!top.has(key)) return;
  list.clear();
  for (const text::Value* value : top.elements(key)) {
    T one{};
    if (top.read_value(Field::word(key, one, words), *value)) list.push_back(one);
  }
  if (top.ok() && list.empty()) top.error(key, "is empty");
}

void read_window(TableReader& top, SearchFile& file) {
  top.require("window");
  std::vector<Picoseconds> times;
  for (const text::Value* value : top.elements("window")) {
    top.read_value(Field::duration("window", times.emplace_back()), *value);
  }
  if (!top.ok()) return;
  if (times.size() != 2 || times[1] - times[0] < kScheduleStep) {
    return top.error("window", "must be two times, the earlier one first");
  }
  file.begin = times[0];
  file.end = times[1];
}

void read_lengths(TableReader& top, SearchFile& file) {
  constexpr Picoseconds kLongest{text::kAmountMax};
  top.read(Field::duration("shortest", file.shortest, kScheduleStep, kLongest));
  Picoseconds longest{};
  if (top.read(Field::duration("longest", longest, kScheduleStep, kLongest))) {
    file.longest = longest;
    if (top.ok() && longest < file.shortest) top.error("longest", "is below shortest");
  }
}

void read_slowest(TableReader& top, SearchFile& file) {
  constexpr std::uint32_t kPercent = text::kShareOne / 100;
  std::uint32_t speed = kPercent;
  if (!top.read(Field::share("slowest", speed))) return;
  if (speed % kPercent != 0 || speed < kPercent || speed >= text::kShareOne) {
    top.error("slowest", "must be a whole percentage from 1% to 99%");
  }
  file.speed_min_percent = static_cast<std::uint16_t>(speed / kPercent);
}

void read_space(TableReader& top, SearchFile& file) {
  read_words(top, "kinds", kSearchedKinds, file.kinds);
  top.require("of");
  read_words(top, "of", kGroupWords, file.groups);
  top.read(Field::whole("faults", file.faults_max, 1, kSearchFaultsMax));
  read_window(top, file);
  read_lengths(top, file);
  top.read(Field::share("highest_rate", file.loss_max_per_billion));
  read_slowest(top, file);
  top.read(Field::flag("directions", file.directions));
}

void read_goal(TableReader& top, SearchFile& file) {
  for (const std::string_view key : {"scenario", "figure"}) top.require(key);
  top.read(Field::string("title", file.title));
  top.read(Field::string("scenario", file.scenario));
  if (top.read(Field::string("figure", file.figure)) && !find_measure(file.figure)) {
    std::string names;
    for (const Measure& measure : measures()) names += fmt::format(" {}", measure.key);
    top.error("figure", fmt::format("no figure is called '{}'; there are:{}", file.figure, names));
  }
  top.read(Field::word("worst", file.least_is_worst, kWorstWords));
  top.read(Field::word("unfinished", file.skip_unfinished, kUnfinishedWords));
}

void read_effort(TableReader& top, SearchFile& file) {
  constexpr std::size_t kAtATimeMax = 10'000;
  top.read(Field::whole("seed", file.evolution.seed));
  top.read(Field::whole("runs", file.runs, 1, kSearchRunsMax));
  top.read(Field::whole("random", file.evolution.random, 1, kSearchRunsMax));
  top.read(Field::whole("parents", file.evolution.parents, 1, kAtATimeMax));
  top.read(Field::whole("children", file.evolution.children, 1, kAtATimeMax));
  top.read(Field::share("keep", file.keep));
}

}  // namespace

Result<SearchFile, std::vector<text::FileError>> parse_search_file(std::string_view text) {
  text::TomlReader reader(text);
  SearchFile file;
  if (reader.is_toml()) {
    read_goal(reader.top(), file);
    read_space(reader.top(), file);
    read_effort(reader.top(), file);
    reader.top().finish();
  }
  if (reader.diagnostics().count() > 0) return failure(reader.diagnostics().take());
  return file;
}

Result<SearchSpace, std::string> space_of(const SearchFile& file, const fabric::Fabric& fabric) {
  for (const ElementGroup group : file.groups) {
    if (size_of(group, fabric) > 0) continue;
    return failure(fmt::format("of: the fabric of '{}' has no {}", file.scenario,
                               kGroupWords[static_cast<std::size_t>(group)]));
  }
  return SearchSpace{.fabric = fabric,
                     .kinds = file.kinds,
                     .groups = file.groups,
                     .faults_max = file.faults_max,
                     .begin = file.begin,
                     .end = file.end,
                     .shortest = file.shortest,
                     .longest = file.longest.value_or(file.end - file.begin),
                     .loss_max_per_billion = file.loss_max_per_billion,
                     .speed_min_percent = file.speed_min_percent,
                     .directions = file.directions};
}

}  // namespace openmrc::sim
