// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace openmrc::sim {

inline constexpr double kConfidence = 0.95;

// What several runs with different seeds say of a figure. The interval is between two of the values
// themselves, equally far from both ends, and holds the median of all possible runs with at least
// 95 % probability, however the figure is distributed: that follows from the binomial distribution
// alone. Fewer than 6 values cannot say that much; then it is from the least to the greatest, and
// `confidence` how much that is.
struct Estimate {
  std::size_t count = 0;  // of values
  double median = 0;
  double low = 0;
  double high = 0;
  double confidence = 0;

  bool operator==(const Estimate&) const = default;
};

// Empty without values.
std::optional<Estimate> estimate_median(std::vector<double> values);

}  // namespace openmrc::sim
