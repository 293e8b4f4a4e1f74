// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/sim/search/evolution.h"
#include "openmrc/sim/search/fault_schedule.h"
#include "openmrc/text/file_error.h"
#include "openmrc/text/units.h"

// The file that says what a search looks for. docs/experiments.md has its keys.
namespace openmrc::sim {

struct SearchFile {
  std::string title{};
  std::string scenario{};        // the path of its file, seen from the search's file
  std::string figure{};          // by its name in measures()
  bool least_is_worst = false;   // of the figure
  bool skip_unfinished = false;  // a workload that does not finish counts for nothing
  std::size_t runs = 5'000;
  std::uint32_t keep = text::kShareOne / 10 * 9;  // of the harm, when it is made simpler
  EvolutionSettings evolution{};
  // Of the space.
  std::vector<SearchedKind> kinds{SearchedKind::kCut};
  std::vector<ElementGroup> groups{};
  std::size_t faults_max = 4;
  Picoseconds begin{};
  Picoseconds end{};
  Picoseconds shortest{kScheduleStep};
  std::optional<Picoseconds> longest{};  // empty: the whole window
  std::uint32_t loss_max_per_billion = text::kShareOne;
  std::uint16_t speed_min_percent = 1;
  bool directions = true;
};

inline constexpr std::size_t kSearchRunsMax = 10'000'000;
inline constexpr std::size_t kSearchFaultsMax = 64;

Result<SearchFile, std::vector<text::FileError>> parse_search_file(std::string_view text);

// The error says what the fabric does not have.
Result<SearchSpace, std::string> space_of(const SearchFile& file, const fabric::Fabric& fabric);

}  // namespace openmrc::sim
