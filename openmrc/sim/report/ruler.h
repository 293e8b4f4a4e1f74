// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "openmrc/text/numbers.h"

// Axes of charts.
namespace openmrc::sim {

// Where the lines of an axis stand: round numbers (1, 2 or 5 times a power of ten), about so many,
// and none outside the range. There are at least two.
std::vector<double> ticks(double from, double to, int about);

// The same for an axis of magnitudes; `from` is above zero. Powers of ten, and between them 2 and 5
// if there are few.
std::vector<double> logarithmic_ticks(double from, double to);

// An axis from one number to another. Its ticks are in the scale that suits its end: an axis to
// 2'000'000'000 ps has ticks from 0 to 2, and its unit is ms.
class Ruler {
 public:
  Ruler(text::Unit unit, double from, double to, bool logarithmic, int about);

  [[nodiscard]] const std::vector<double>& ticks() const { return ticks_; }
  [[nodiscard]] std::string label(double tick) const;
  [[nodiscard]] std::string_view unit_name() const { return scale_.name; }

  // Where it stands on the axis, 0 to 1.
  [[nodiscard]] double place_of(double value) const {
    return place_of_tick(value / scale_.divisor);
  }
  [[nodiscard]] double place_of_tick(double tick) const;

 private:
  text::Scale scale_;
  bool logarithmic_;
  double from_;
  double to_;
  std::vector<double> ticks_;
};

}  // namespace openmrc::sim
