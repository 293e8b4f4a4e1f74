// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/sim/series/series.h"

namespace openmrc::sim {

// A row for each time and thing, a column for each figure; empty where the thing has no such
// figure. What counts up is given for the time since the row before.
std::string write_series_csv(const Series& series);

// "p3.t0-17/up4 up": the link, and the direction away from the hosts or towards them.
std::string series_name(const DirectedLink& link);

}  // namespace openmrc::sim
