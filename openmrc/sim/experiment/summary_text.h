// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "openmrc/sim/experiment/summary.h"

// An experiment for people at a terminal, for spreadsheets and for programs.
namespace openmrc::sim {

// The figures that a table shows unless it is told: what the runs were for, and what they cost.
std::vector<std::size_t> main_measures(const std::vector<Group>& groups);

// "1.92 ms [1.90, 1.95]", with units where they differ; "-" if there is none.
std::string estimate_text(const std::optional<Estimate>& estimate, text::Unit unit);

// A line for each group, with the figures `shown` (by measures()).
std::string groups_text(const Experiment& experiment, const std::vector<std::size_t>& shown);
// One group, with a line for each figure.
std::string group_text(const Group& group);

// A line for each group and all figures, each with median, low and high. RFC 4180.
std::string experiment_csv(const Experiment& experiment);
// All groups and all runs. docs/experiments.md has the fields.
std::string experiment_json(const Experiment& experiment);

}  // namespace openmrc::sim
