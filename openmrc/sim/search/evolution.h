// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/sim/search/fault_schedule.h"

namespace openmrc::sim {

struct Tried {
  Schedule schedule{};
  double harm = 0;  // more is worse

  bool operator==(const Tried&) const = default;
};

struct EvolutionSettings {
  std::size_t random = 1000;  // schedules by chance alone, first
  std::size_t parents = 24;   // the worst so far, from which others are made
  std::size_t children = 48;  // made at a time
  std::uint64_t seed = 1;
};

// Looks for the schedule that does most harm. The first ones are random; then those that did most
// are changed and crossed, again and again. When that leads nowhere any more it begins anew with
// random ones. It asks for schedules to be tried and is told what they did; what it asks for
// follows from the seed and from what it was told.
class Evolution {
 public:
  Evolution(SearchSpace space, const EvolutionSettings& settings);

  // The next to be tried.
  const std::vector<Schedule>& ask();
  // The harm of each of them.
  void tell(std::span<const double> harms);

  [[nodiscard]] const Tried& worst() const { return worst_; }  // that was found
  [[nodiscard]] const std::vector<double>& random_harms() const { return random_harms_; }
  [[nodiscard]] std::size_t tried() const { return tried_; }

 private:
  void make_children();
  [[nodiscard]] const Schedule& choose_parent();
  void select(std::vector<Tried> candidates);

  SearchSpace space_;
  EvolutionSettings settings_;
  Rng rng_;
  std::vector<Schedule> asked_{};
  std::vector<Tried> parents_{};  // the worst first
  Tried worst_{};
  std::vector<double> random_harms_{};
  std::size_t tried_ = 0;
  std::size_t without_progress_ = 0;  // generations
};

}  // namespace openmrc::sim
