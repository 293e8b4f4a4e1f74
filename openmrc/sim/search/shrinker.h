// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "openmrc/sim/search/evolution.h"
#include "openmrc/sim/search/fault_schedule.h"

namespace openmrc::sim {

// Makes a schedule simpler as long as it does harm enough: leaves faults out, makes them shorter,
// gives their times fewer digits. It asks for schedules to be tried, like Evolution.
class Shrinker {
 public:
  // What does less than `harm_min` is no replacement.
  Shrinker(SearchSpace space, Tried found, double harm_min);

  // Simpler ones; none if there is nothing left to make simpler.
  const std::vector<Schedule>& ask();
  void tell(std::span<const double> harms);

  [[nodiscard]] const Tried& simplest() const { return simplest_; }

 private:
  void add(const Schedule& schedule);

  SearchSpace space_;
  Tried simplest_;
  double harm_min_;
  std::vector<Schedule> asked_{};
  bool done_ = false;
};

}  // namespace openmrc::sim
