// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "openmrc/text/numbers.h"

namespace openmrc::sim {

// A value and the interval around it, in a line of its own with its name at the left.
struct IntervalRow {
  std::string name{};
  double at = 0;
  double low = 0;
  double high = 0;
  std::size_t color = 0;  // of series_color (chart_style.h): rows of one kind look alike
};

// Values of one figure side by side, as SVG for a page that has the style of chart_style.h. The
// axis begins at 0 if the values lie far apart, and otherwise just below the least: lengths say
// nothing here, places do.
struct IntervalChart {
  std::string title{};
  text::Unit unit = text::Unit::kCount;
  std::vector<IntervalRow> rows{};
};

std::string render_svg(const IntervalChart& chart);
bool begins_above_zero(const IntervalChart& chart);

}  // namespace openmrc::sim
