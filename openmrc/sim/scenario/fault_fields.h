// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "openmrc/sim/scenario/faults.h"
#include "openmrc/sim/scenario/scenario_faults.h"
#include "openmrc/text/table_reader.h"

// What [[fault]], [[failures]] and the files of experiments have in common.
namespace openmrc::sim {

// In the order of the enumerators.
inline constexpr std::array<std::string_view, 3> kDirectionWords{"both", "up", "down"};
static_assert(static_cast<int>(Direction::kDownward) == 2);

inline constexpr std::array<std::string_view, 6> kGroupWords{"uplinks", "host-links", "t0",
                                                             "t1",      "t1-uplinks", "t2"};
static_assert(static_cast<int>(ElementGroup::kT2s) == 5);

// The key `speed`: the share of its rate that a link has left, in whole per cent.
std::uint16_t read_speed(text::TableReader& section);

}  // namespace openmrc::sim
