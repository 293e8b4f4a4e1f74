// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "openmrc/text/numbers.h"

// Charts as SVG, for a page that has the style of chart_style.h.
namespace openmrc::sim {

struct Point {
  double x = 0;
  double y = 0;
};

enum class Drawn : std::uint8_t {
  kLine,   // from point to point
  kSteps,  // a point's value holds until the next point
  kArea,   // steps, filled, on top of the areas before; all areas of a chart have the same x
  kDots,
  kBars,  // one for each whole number across
};

struct ChartSeries {
  std::string name{};
  Drawn drawn = Drawn::kLine;
  std::string color{};  // of CSS; see chart_style.h
  bool dashed = false;
  std::vector<Point> points{};
};

// The axis upwards starts at 0 and is never logarithmic.
struct Axis {
  std::string name{};
  text::Unit unit = text::Unit::kCount;
  double from = 0;
  double to = 0;  // 0: as far as the data goes
  bool logarithmic = false;
};

// Something that lasted, such as a fault: a shaded span with a label on top. By when they begin.
struct Span {
  double from = 0;
  double to = 0;
  std::string label{};
};

// A value to compare with: a dashed line through the whole chart.
struct Reference {
  double at = 0;
  std::string label{};
  bool vertical = false;
};

struct Chart {
  std::string title{};
  Axis x{};
  Axis y{};
  std::vector<ChartSeries> series{};
  std::vector<Span> spans{};
  std::vector<Reference> references{};
  int width = 520;  // in pixels at normal size
  int height = 280;
  std::string total{};  // what the sum of the areas is called under the pointer; empty: not shown
};

std::string render_svg(const Chart& chart);
// Where the upward axis ends, so that two charts can be given the same.
double y_end(const Chart& chart);

}  // namespace openmrc::sim
