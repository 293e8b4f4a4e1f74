// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/availability/fabric_states.h"
#include "openmrc/text/file_error.h"

// The file that says how often what fails. docs/experiments.md has its keys.
namespace openmrc::sim {

struct AvailabilityFile {
  std::string title{};
  std::string scenario{};  // the path of its file, seen from this file
  std::size_t seeds = 5;   // runs of each state
  double mass = 0.999;     // of the probability; states are run until they have it
  std::size_t states_max = 200;
  std::vector<UnreliableParts> parts{};  // not counted yet
};

Result<AvailabilityFile, std::vector<text::FileError>> parse_availability_file(
    std::string_view text);

// How many there are. The error says of which there are none.
Result<void, std::string> count_parts(AvailabilityFile& file, const fabric::Fabric& fabric);

}  // namespace openmrc::sim
