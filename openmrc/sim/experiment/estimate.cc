// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/experiment/estimate.h"

#include <algorithm>
#include <cmath>

namespace openmrc::sim {
namespace {

// Of `count` throws of a coin exactly `heads` are heads.
double probability_of(std::size_t heads, std::size_t count) {
  const auto n = static_cast<double>(count);
  const auto k = static_cast<double>(heads);
  const double ways = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
  return std::exp(ways - n * std::log(2.0));
}

struct Bounds {
  std::size_t cut = 0;  // values left out at either end
  double confidence = 0;
};

// The narrowest that are sure enough. With `cut` values left out at an end, the median lies beyond
// it if at most that many of all values are on its other side.
Bounds bounds_for(std::size_t count) {
  double outside = 2 * probability_of(0, count);
  Bounds bounds{.cut = 0, .confidence = 1 - outside};
  for (std::size_t cut = 1; cut < (count + 1) / 2; ++cut) {
    outside += 2 * probability_of(cut, count);
    if (1 - outside < kConfidence) break;
    bounds = {.cut = cut, .confidence = 1 - outside};
  }
  return bounds;
}

}  // namespace

std::optional<Estimate> estimate_median(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  const std::size_t count = values.size();
  const Bounds bounds = bounds_for(count);
  return Estimate{.count = count,
                  .median = (values[(count - 1) / 2] + values[count / 2]) / 2,
                  .low = values[bounds.cut],
                  .high = values[count - 1 - bounds.cut],
                  .confidence = std::max(0.0, bounds.confidence)};
}

}  // namespace openmrc::sim
