// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "openmrc/mapsim/rack.h"

namespace openmrc::mapsim {

// Faults of one loss on one kind of link.
struct LossRow {
  fabric::LinkId::Kind kind{};
  double loss = 0;
  std::uint32_t faults = 0;
  std::uint32_t named = 0;
  std::uint32_t by_rack = 0;          // of those, that no agent was sure of when they were named
  std::uint32_t right_direction = 0;  // in the end, of those that were named in the end
  std::uint32_t wrong_direction = 0;
  double median_seconds = 0;  // from fault to name
  double p99_seconds = 0;
};

struct Summary {
  std::vector<LossRow> rows{};  // with faults
  std::uint32_t faults = 0;
  std::uint32_t named = 0;
  std::vector<std::string> false_names{};
  std::vector<std::string> false_by_agents{};
  std::uint64_t agents = 0;
  std::uint64_t rounds_judged = 0;
  std::uint64_t rounds_left_out = 0;
  std::uint64_t probes_lost = 0;

  // Of links that were named, how many are bad; of those that are bad, how many were named.
  [[nodiscard]] double precision() const;
  [[nodiscard]] double recall() const;
};

Summary summarise(std::span<const LinkFault> faults, std::span<const RackResult> racks);

}  // namespace openmrc::mapsim
