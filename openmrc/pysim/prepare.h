// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/sim/result/origin.h"
#include "openmrc/sim/scenario/scenario.h"
#include "openmrc/sim/series/series_request.h"

namespace openmrc::pysim {

// What a program in Python asks to be run.
struct RunArguments {
  std::string name{};  // of the scenario
  std::string text{};  // TOML
  // The text of a file that the scenario names.
  std::function<std::string(const std::string& name)> read_file{};
  std::vector<std::string> settings{};  // KEY=VALUE in place of what the text says
  std::optional<std::uint64_t> seed{};
  std::size_t threads = 0;  // 0: by the processors and the size of the fabric
  std::optional<sim::SeriesRequest> series{};
};

struct Prepared {
  sim::Scenario scenario{};
  sim::RunInputs inputs{};
  std::optional<sim::SeriesSettings> series{};
  std::size_t threads = 1;
};

// The error says all that is wrong with the scenario.
Result<Prepared, std::string> prepare(const RunArguments& arguments);

}  // namespace openmrc::pysim
