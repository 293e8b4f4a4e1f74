// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "openmrc/sim/result/result.h"
#include "openmrc/text/numbers.h"

// The figures by which runs are compared.
namespace openmrc::sim {

struct Measure {
  std::string_view key{};    // for programs
  std::string_view label{};  // for people
  text::Unit unit = text::Unit::kCount;
};

// All of them, in the order of tables.
std::span<const Measure> measures();
std::optional<std::size_t> find_measure(std::string_view key);

// Those of a run, in the same order; empty where it has no such figure.
using Measured = std::vector<std::optional<double>>;
Measured measure(const RunResult& result);

}  // namespace openmrc::sim
