// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/base/result.h"
#include "openmrc/sim/scenario/scenario.h"
#include "openmrc/sim/series/series.h"

namespace openmrc::sim {

// A series as people ask for it.
struct SeriesRequest {
  std::string every = "10 us";
  std::string hosts{};  // names, with commas between them
  std::string links{};  // the same, or a number: the busiest
};

// What it means in this scenario's fabric.
Result<SeriesSettings, std::string> read_request(const SeriesRequest& request,
                                                 const Scenario& scenario);

}  // namespace openmrc::sim
