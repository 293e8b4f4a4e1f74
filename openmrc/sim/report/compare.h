// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "openmrc/sim/result/result.h"
#include "openmrc/text/numbers.h"

// Two results side by side: the same scenario with two transports, two seeds, two versions.
namespace openmrc::sim {

struct ComparedFigure {
  std::string key{};    // for programs
  std::string label{};  // for people
  text::Unit unit = text::Unit::kCount;
  std::optional<double> first{};  // empty: the run has no such figure
  std::optional<double> second{};

  // Of the second to the first; empty where there is none.
  [[nodiscard]] std::optional<double> ratio() const;
};

// Figures that neither result has are left out. Jobs of both runs are compared by their names.
std::vector<ComparedFigure> compare(const RunResult& first, const RunResult& second);

// What must be known to read the figures: percentiles leave out flows that never ended, and so
// flatter a run that did not finish. Empty if all did.
std::string comparison_warning(const RunResult& first, const RunResult& second);

std::string compare_text(const RunResult& first, const RunResult& second);
// Values rounded to whole picoseconds, bytes, bits per second, millionths and counts.
std::string compare_json(const RunResult& first, const RunResult& second);

}  // namespace openmrc::sim
