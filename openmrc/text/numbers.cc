// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace openmrc::text {
namespace {

constexpr std::array kTimeScales{Scale{1, "ps"}, Scale{1e3, "ns"}, Scale{1e6, "us"},
                                 Scale{1e9, "ms"}, Scale{1e12, "s"}};
constexpr std::array kByteScales{Scale{1, "B"}, Scale{1024, "KiB"}, Scale{1024.0 * 1024, "MiB"},
                                 Scale{1024.0 * 1024 * 1024, "GiB"},
                                 Scale{1024.0 * 1024 * 1024 * 1024, "TiB"}};
constexpr std::array kRateScales{Scale{1, "b/s"},    Scale{1e3, "kb/s"},  Scale{1e6, "Mb/s"},
                                 Scale{1e9, "Gb/s"}, Scale{1e12, "Tb/s"}, Scale{1e15, "Pb/s"}};
constexpr std::array kShareScales{Scale{1e4, "%"}};
constexpr std::array kCountScales{Scale{1, ""}, Scale{1e6, "million"}, Scale{1e9, "billion"}};

std::span<const Scale> scales_of(Unit unit) {
  switch (unit) {
    case Unit::kPicoseconds: return kTimeScales;
    case Unit::kBytes: return kByteScales;
    case Unit::kBitsPerSecond: return kRateScales;
    case Unit::kPartsPerMillion: return kShareScales;
    case Unit::kCount: break;
  }
  return kCountScales;
}

// Digits before the point; below 1 the zeros after it, counted downwards.
int magnitude(double value) { return static_cast<int>(std::floor(std::log10(value))) + 1; }

}  // namespace

Scale scale_for(Unit unit, double largest) {
  const std::span<const Scale> scales = scales_of(unit);
  // What rounds up to one of the next scale belongs there: 999.8 us is 1.00 ms.
  const double rounded_up = std::abs(largest) / 0.9995;
  const auto above = std::find_if(scales.begin() + 1, scales.end(),
                                  [&](const Scale& scale) { return scale.divisor > rounded_up; });
  return *(above - 1);
}

std::string human_si(double amount, std::string_view unit) {
  constexpr std::array<std::string_view, 4> kPrefixes{"", "k", "M", "G"};
  std::size_t at = 0;
  for (; amount >= 999.5 && at + 1 < kPrefixes.size(); ++at) amount /= 1000;
  const std::string suffix = fmt::format("{}{}", kPrefixes[at], unit);
  return fmt::format("{:.3g}{}{}", amount, suffix.empty() ? "" : " ", suffix);
}

std::string significant(double value) {
  if (value == 0 || !std::isfinite(value)) return "0";
  const double size = std::abs(value);
  const double unit = std::pow(10, 3 - magnitude(size));
  const double rounded = std::round(size * unit) / unit;
  const int decimals = std::clamp(3 - magnitude(rounded), 0, 9);
  std::string text = fmt::format("{:.{}f}", rounded, decimals);
  const bool exact = std::abs(rounded - size) <= size * 1e-9;
  if (exact && text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
  }
  return value < 0 ? "-" + text : text;
}

std::string grouped(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string human_count(std::uint64_t count) {
  if (count < 1'000'000) return grouped(count);
  const auto value = static_cast<double>(count);
  const Scale scale = scale_for(Unit::kCount, value);
  return fmt::format("{} {}", significant(value / scale.divisor), scale.name);
}

std::string human(double value, Unit unit) {
  if (unit == Unit::kPartsPerMillion) return human_share(value, 1e6);
  if (unit == Unit::kCount && value >= 0) {
    return human_count(static_cast<std::uint64_t>(std::llround(value)));
  }
  if (unit == Unit::kPicoseconds && value == 0) return "0 s";
  const Scale scale = scale_for(unit, value);
  return fmt::format("{} {}", significant(value / scale.divisor), scale.name);
}

std::string human(Picoseconds time) {
  return human(static_cast<double>(time.raw()), Unit::kPicoseconds);
}

std::string human_bytes(std::uint64_t bytes) {
  return human(static_cast<double>(bytes), Unit::kBytes);
}

std::string human_rate(double bits_per_second) {
  return human(bits_per_second, Unit::kBitsPerSecond);
}

std::string human_share(double part, double whole) {
  if (part == 0 || whole == 0) return "0 %";
  const double percent = part / whole * 100;
  if (percent >= 99.95 && percent < 100) {
    return percent < 99.995 ? fmt::format("{:.2f} %", percent) : "> 99.99 %";
  }
  if (percent > 0 && percent < 0.0001) return "< 0.0001 %";
  return significant(percent) + " %";
}

}  // namespace openmrc::text
