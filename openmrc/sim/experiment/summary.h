// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/experiment/estimate.h"
#include "openmrc/sim/result/measures.h"

// Many runs as one table: those that differ in nothing but the seed are a group.
namespace openmrc::sim {

struct ExperimentRun {
  std::vector<std::string> values{};  // one for each axis
  std::uint64_t seed = 0;
  bool finished = false;
  Measured figures{};
  std::optional<fabric::Shape> shape{};  // of its fabric, if its result says
};

struct Experiment {
  std::string title{};
  std::vector<std::string> axes{};  // what was varied, "fabric.planes"
  std::vector<ExperimentRun> runs{};
  std::vector<std::string> missing{};  // runs that there should be, by name
};

struct Group {
  std::vector<std::string> values{};  // one for each axis
  std::size_t runs = 0;
  std::size_t unfinished = 0;                        // of them
  std::vector<std::optional<Estimate>> estimates{};  // by measures()
};

// Values of axes as one name: "8 x 100G · 32"; "all runs" if there are none.
std::string label_of(std::span<const std::string> values);

// In the order in which their first runs stand.
std::vector<Group> groups_of(const Experiment& experiment);

// What some groups have, in the order of measures().
std::vector<std::size_t> measures_in(const std::vector<Group>& groups);

// How to read the intervals: which they are, and of how many runs.
std::string interval_note(const std::vector<Group>& groups);
// What keeps the figures from being what they seem: runs that are missing or did not finish. Empty
// if nothing does.
std::string experiment_warning(const Experiment& experiment);

}  // namespace openmrc::sim
