// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/loss_text.h"

#include <fmt/format.h>

namespace openmrc::tools {

std::string loss_text(double ratio) {
  const double percent = ratio * 100;
  return percent >= 10 ? fmt::format("{:.0f} %", percent) : fmt::format("{:.2g} %", percent);
}

std::string age_text(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  if (seconds < kMinute) return fmt::format("{:.1f} s", seconds);
  if (seconds < kHour) return fmt::format("{:.0f} min", seconds / kMinute);
  return fmt::format("{:.1f} h", seconds / kHour);
}

}  // namespace openmrc::tools
