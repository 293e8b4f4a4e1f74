// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/one_way_evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace openmrc::mapper {
namespace {

constexpr double kTimesLikelier = 1'000;
// Losses that are expected where there are none otherwise: one that is nobody's does not decide.
constexpr double kStray = 0.1;

// Logarithm, for counts of a Poisson distribution, without what is the same for every mean.
double likelihood(double count, double mean) { return count * std::log(mean) - mean; }

struct Usual {
  double up = 0;
  double down = 0;
};

double one_way(double both, double bad, double bad_usual, double good, double good_usual) {
  const double losses = std::max(kStray, (both + std::max(0.0, bad - bad_usual)) / 2);
  return likelihood(both, losses) + likelihood(bad, bad_usual + losses) +
         likelihood(good, good_usual);
}

double both_ways(const OneWayEvidence& lost, const Usual& usual) {
  const double all =
      lost.both + std::max(0.0, lost.up - usual.up) + std::max(0.0, lost.down - usual.down);
  const double losses = std::max(kStray, all / 4);  // of each direction
  return likelihood(lost.both, 2 * losses) + likelihood(lost.up, usual.up + losses) +
         likelihood(lost.down, usual.down + losses);
}

}  // namespace

Direction likely_direction(const OneWayEvidence& lost) {
  const Usual usual{.up = std::max(kStray, lost.up_usual),
                    .down = std::max(kStray, lost.down_usual)};
  struct Answer {
    double likelihood = 0;
    Direction direction = Direction::kUnknown;
  };
  std::array<Answer, 3> answers{
      {{one_way(lost.both, lost.up, usual.up, lost.down, usual.down), Direction::kUp},
       {one_way(lost.both, lost.down, usual.down, lost.up, usual.up), Direction::kDown},
       {both_ways(lost, usual), Direction::kBoth}}};
  std::ranges::sort(answers, std::greater{}, &Answer::likelihood);
  const bool is_sure = answers[0].likelihood - answers[1].likelihood >= std::log(kTimesLikelier);
  return is_sure ? answers[0].direction : Direction::kUnknown;
}

}  // namespace openmrc::mapper
