// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "openmrc/mapsim/summary.h"

namespace openmrc::tools {

// `mrc map simulate`: what agents of a whole fabric would name.
void add_map_simulate(CLI::App& map, int& exit_code);

std::string simulation_text(const mapsim::Settings& settings, const mapsim::Summary& summary);
std::string simulation_json(const mapsim::Settings& settings, const mapsim::Summary& summary);

}  // namespace openmrc::tools
