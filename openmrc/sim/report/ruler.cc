// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/ruler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace openmrc::sim {
namespace {

using text::grouped;
using text::scale_for;
using text::significant;
using text::Unit;

// Rounding of the last digits must not cost the tick at an end.
constexpr double kSlack = 1e-9;

double step_of(double range, int about) {
  const double raw = range / about;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  const double leading = raw / power;
  // Whichever is nearest, as a factor.
  if (leading < std::sqrt(2)) return power;
  if (leading < std::sqrt(10)) return 2 * power;
  return leading < std::sqrt(50) ? 5 * power : 10 * power;
}

}  // namespace

std::vector<double> ticks(double from, double to, int about) {
  if (!(to > from)) return {from, from + 1};
  const double step = step_of(to - from, about);
  const auto first = std::llround(std::ceil(from / step - kSlack));
  const auto last = std::llround(std::floor(to / step + kSlack));
  std::vector<double> result;
  for (auto at = first; at <= last; ++at) result.push_back(static_cast<double>(at) * step);
  return result.size() < 2 ? std::vector{from, to} : result;
}

std::vector<double> logarithmic_ticks(double from, double to) {
  const bool few = to / from < 1000;
  std::vector<double> result;
  const auto first = static_cast<int>(std::floor(std::log10(from)));
  const auto last = static_cast<int>(std::floor(std::log10(to)));
  for (int power = first; power <= last; ++power) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double at = digit * std::pow(10, power);
      const bool inside = at >= from * (1 - kSlack) && at <= to * (1 + kSlack);
      if (inside && (few || digit == 1)) result.push_back(at);
    }
  }
  return result.size() < 2 ? std::vector{from, to} : result;
}

Ruler::Ruler(Unit unit, double from, double to, bool logarithmic, int about)
    : scale_(scale_for(unit, to)),
      logarithmic_(logarithmic),
      from_(from / scale_.divisor),
      to_(to > from ? to / scale_.divisor : from_ + 1),
      ticks_(logarithmic ? logarithmic_ticks(from_, to_) : sim::ticks(from_, to_, about)) {}

double Ruler::place_of_tick(double tick) const {
  if (logarithmic_) return std::log(tick / from_) / std::log(to_ / from_);
  return (tick - from_) / (to_ - from_);
}

std::string Ruler::label(double tick) const {
  if (logarithmic_) return significant(tick);
  const double step = ticks_[1] - ticks_[0];
  const int decimals = std::clamp(static_cast<int>(-std::floor(std::log10(step) + kSlack)), 0, 9);
  if (decimals == 0 && tick >= 10'000) {
    return grouped(static_cast<std::uint64_t>(std::llround(tick)));
  }
  return fmt::format("{:.{}f}", tick, decimals);
}

}  // namespace openmrc::sim
