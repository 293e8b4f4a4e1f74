// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "openmrc/fabric/parts.h"
#include "openmrc/sim/experiment/summary.h"

namespace openmrc::sim {

// An experiment for people who were not there, complete in one file that loads nothing: a chart
// with intervals for each of the figures `shown` (by measures()), tables of all, and what the
// fabrics are made of; with `parts` also what they cost.
std::string experiment_page(const Experiment& experiment, const std::vector<std::size_t>& shown,
                            const std::optional<fabric::Parts>& parts = {});

}  // namespace openmrc::sim
