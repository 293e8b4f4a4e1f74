// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "openmrc/base/picoseconds.h"
#include "openmrc/base/rng.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/scenario/faults.h"
#include "openmrc/sim/scenario/scenario_faults.h"

// Schedules of faults as a search varies them.
namespace openmrc::sim {

enum class SearchedKind : std::uint8_t { kCut, kLoss, kSlow };

struct SearchedFault {
  SearchedKind kind = SearchedKind::kCut;
  ElementGroup group = ElementGroup::kUplinks;
  std::uint64_t index = 0;  // in its group
  Picoseconds at{};
  Picoseconds length{};
  std::uint32_t loss_per_billion = 0;
  std::uint16_t speed_percent = 100;
  Direction direction = Direction::kBoth;

  bool operator==(const SearchedFault&) const = default;
};

// In order of time.
using Schedule = std::vector<SearchedFault>;

// Which schedules there are.
struct SearchSpace {
  fabric::Fabric fabric;
  std::vector<SearchedKind> kinds{SearchedKind::kCut};
  std::vector<ElementGroup> groups{ElementGroup::kUplinks};  // none of them empty
  std::size_t faults_max = 4;
  Picoseconds begin{};  // all faults are between these
  Picoseconds end{};
  Picoseconds shortest{};  // one lasts at least and at most so long
  Picoseconds longest{};
  std::uint32_t loss_max_per_billion = 1'000'000'000;
  std::uint16_t speed_min_percent = 1;
  bool directions = true;  // a fault may be of one direction of a link alone
};

// Times are whole multiples of it.
inline constexpr Picoseconds kScheduleStep{100'000};

Schedule random_schedule(const SearchSpace& space, Rng& rng);
// One that is like it but for a change or some.
Schedule mutated(const Schedule& schedule, const SearchSpace& space, Rng& rng);
// Some faults of each.
Schedule crossed(const Schedule& first, const Schedule& second, const SearchSpace& space, Rng& rng);

// A fault moved and cut to size so that it is between the ends of the space; whole steps.
SearchedFault fitted(SearchedFault fault, const SearchSpace& space);

// By time.
Schedule in_order(Schedule schedule);

// As [[fault]] of a scenario's file, and as a setting in place of those (text/toml_setting.h).
std::string schedule_text(const Schedule& schedule, const fabric::Fabric& fabric);
std::string schedule_setting(const Schedule& schedule, const fabric::Fabric& fabric);

}  // namespace openmrc::sim
