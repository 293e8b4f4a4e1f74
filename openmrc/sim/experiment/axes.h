// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace openmrc::sim {

// What tells a run from others but for its seed.
struct RunLabels {
  std::string scenario{};               // its name
  std::string transport{};              // "mrc" or "rc"
  std::vector<std::string> settings{};  // KEY=VALUE
};

// What differs between runs that no plan describes: their scenarios, transports and settings. A run
// that does not set what another does has "-" there.
struct FoundAxes {
  std::vector<std::string> axes{};
  std::vector<std::vector<std::string>> values{};  // of each run, one for each axis
};
FoundAxes find_axes(const std::vector<RunLabels>& runs);

}  // namespace openmrc::sim
