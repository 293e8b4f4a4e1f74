// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "openmrc/base/time.h"
#include "openmrc/fabric/names.h"
#include "openmrc/mapper/report.h"

// What several agents have found, put together by whoever reads them. Nothing is remembered.
namespace openmrc::mapper {

// A link; or a switch, if all that lead to it are bad for all that could tell.
struct Finding {
  fabric::Element element{};
  Direction direction = Direction::kUnknown;
  double loss = 0;             // mean of the agents that found it
  Duration delay{};            // of a slow link, which loses nothing; the median of the agents
  Tally seen{};                // all of them together
  Duration age{};              // of the one that has seen it longest
  std::uint32_t found_by = 0;  // agents
  std::uint32_t asked = 0;     // that probe it
  bool by_rack = false;        // too few have seen enough by themselves, all together have
};

struct MergedMap {
  fabric::Shape shape{};
  std::vector<Finding> findings{};
  std::vector<std::string> left_out{};  // agents that speak of another fabric
};

// The first report says which fabric it is about. Of two reports of one host the last counts.
MergedMap merge(std::span<const MapReport> reports);

}  // namespace openmrc::mapper
