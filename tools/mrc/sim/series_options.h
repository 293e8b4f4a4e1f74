// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "openmrc/sim/series/series_request.h"

namespace openmrc::tools {

struct SeriesOptions {
  std::string file{};  // empty: no series
  sim::SeriesRequest request{};
};

void add_series_options(CLI::App& command, SeriesOptions& options);

// What is to be said of a series that is not as it was asked for; empty if it is.
std::string series_note(const SeriesOptions& options, const sim::Series& series);

}  // namespace openmrc::tools
