// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/availability/weighted_mean.h"

#include <algorithm>
#include <cmath>

namespace openmrc::sim {
namespace {

struct Sample {
  double mean = 0;
  double variance_of_mean = 0;
};

Sample sample_of(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  Sample sample;
  for (const double value : values) sample.mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - sample.mean) * (value - sample.mean);
  sample.variance_of_mean = squares / (count - 1) / count;
  return sample;
}

}  // namespace

// Cornish and Fisher's expansion about the normal distribution; from 3 degrees on it is within 1 %.
double student_95(double degrees_of_freedom) {
  constexpr double kNormal = 1.959964;
  const double z2 = kNormal * kNormal;
  const double n = std::max(1.0, degrees_of_freedom);
  if (n < 2) return 12.706;
  if (n < 3) return 4.303;
  const double first = (z2 + 1) / 4;
  const double second = (5 * z2 * z2 + 16 * z2 + 3) / 96;
  const double third = (3 * z2 * z2 * z2 + 19 * z2 * z2 + 17 * z2 - 15) / 384;
  return kNormal * (1 + first / n + second / (n * n) + third / (n * n * n));
}

std::optional<WeightedMean> weighted_mean(std::span<const Stratum> strata) {
  double mass = 0;
  for (const Stratum& stratum : strata) {
    if (stratum.values.size() < 2) return std::nullopt;
    mass += stratum.probability;
  }
  if (mass <= 0) return std::nullopt;
  double mean = 0;
  double variance = 0;
  double spread = 0;  // what Welch and Satterthwaite divide by
  for (const Stratum& stratum : strata) {
    const double weight = stratum.probability / mass;
    const Sample sample = sample_of(stratum.values);
    const double part = weight * weight * sample.variance_of_mean;
    mean += weight * sample.mean;
    variance += part;
    spread += part * part / static_cast<double>(stratum.values.size() - 1);
  }
  const double error =
      spread > 0 ? student_95(variance * variance / spread) * std::sqrt(variance) : 0;
  return WeightedMean{.mean = mean, .low = std::max(0.0, mean - error), .high = mean + error};
}

}  // namespace openmrc::sim
