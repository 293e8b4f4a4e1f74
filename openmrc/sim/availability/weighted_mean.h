// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace openmrc::sim {

// Values of a figure in one state, and how probable the state is.
struct Stratum {
  double probability = 0;
  std::vector<double> values{};
};

// The mean over all states that were sampled, by their probability, with a 95 % interval for it.
struct WeightedMean {
  double mean = 0;
  double low = 0;
  double high = 0;
};

// Stratified sampling: the error is that of the mean of each state, weighted; the interval is
// Student's, with the degrees of freedom of Welch and Satterthwaite, and not below 0, as no figure
// is. Empty if a state has fewer than two values.
std::optional<WeightedMean> weighted_mean(std::span<const Stratum> strata);

// Of Student's distribution: between plus and minus so many deviations lie 95 %.
double student_95(double degrees_of_freedom);

}  // namespace openmrc::sim
