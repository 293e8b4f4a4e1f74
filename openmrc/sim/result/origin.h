// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"

// Where a result comes from, so that it can be made again from itself.
namespace openmrc::sim {

// Everything that decides a result. What does not, such as the number of threads, is not here.
struct RunInputs {
  std::string name{};                          // of the scenario
  std::string scenario{};                      // the text of its file
  std::vector<std::string> settings{};         // KEY=VALUE in place of what it says, in this order
  std::uint64_t seed = 1;                      // in place of the scenario's
  std::string transport{};                     // "mrc" or "rc" in its place; empty: as it says
  std::string host_config{};                   // text of an openmrc.toml; empty: none
  std::map<std::string, std::string> files{};  // that the scenario names: path and text

  bool operator==(const RunInputs&) const = default;
};

struct Origin {
  std::string program{};  // that made the result, with its version
  RunInputs inputs{};

  bool operator==(const Origin&) const = default;
};

// SHA-256 of the inputs as the file of a result writes them.
std::string inputs_hash(const RunInputs& inputs);

// What to type to get the result from the scenario's file.
std::string command_of(const RunInputs& inputs);

// One line of JSON: "program", "command", "sha256" and "inputs".
std::string origin_json(const Origin& origin);

// That of a result's file (result_json.h); empty if the file has none. The error says what is wrong
// with it; inputs that were changed since are found by their hash.
Result<std::optional<Origin>, std::string> read_origin(std::string_view result_file);

}  // namespace openmrc::sim
