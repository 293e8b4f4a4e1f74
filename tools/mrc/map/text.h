// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "openmrc/fabric/fabric.h"
#include "openmrc/mapper/merge.h"

namespace openmrc::tools {

// An agent that could not be read.
struct Unread {
  std::string url{};
  std::string why{};
};

struct MapAnswer {
  mapper::MergedMap map{};
  std::size_t read = 0;  // agents
  std::vector<Unread> unread{};
};

std::string map_text(const MapAnswer& answer);
std::string map_json(const MapAnswer& answer);

std::string probe_plan_text(const fabric::Fabric& fabric, double rounds_per_second);
std::string probe_plan_json(const fabric::Fabric& fabric, double rounds_per_second);

}  // namespace openmrc::tools
