// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "openmrc/sim/scenario/scenario.h"

// For tests: scenario files, and what is said of those that are wrong.
namespace openmrc::sim {

inline constexpr std::string_view kFabric =
    "[fabric]\nplanes = 4\nracks = 4\nhosts_per_rack = 8\nuplinks = 8\n";
inline constexpr std::string_view kWorkload = "[workload]\nkind = \"permutation\"\nbytes = 1000\n";

inline Result<std::string, std::string> read_test_file(const std::string& path) {
  if (path == "pair.cm") return "Nodes 2\nConnections 1\n1->0 start 5 size 77\n";
  if (path == "large.cm") return "Nodes 99\nConnections 1\n1->0 start 5 size 77\n";
  if (path == "bad.cm") return "Nodes 2\nConnections x\n";
  return failure("there is no " + path);
}

inline Result<Scenario, std::vector<text::FileError>> parse(std::string_view text) {
  return parse_scenario(text, "test", read_test_file);
}

inline Scenario scenario_of(std::string_view text) {
  const auto scenario = parse(text);
  EXPECT_TRUE(scenario.has_value()) << to_string(scenario.error());
  return scenario.value_or(Scenario{});
}

inline std::string error_of(std::string_view text) {
  const auto scenario = parse(text);
  return scenario ? "" : to_string(scenario.error());
}

}  // namespace openmrc::sim
