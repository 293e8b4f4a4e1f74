// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/tally.h"

#include <cmath>

namespace openmrc::mapper {
namespace {

constexpr double kErrorOnce = 1e-3;
constexpr double kErrorRepeated = 1e-6;
constexpr double kNegligible = 1e-15;

// One direction is said to be at fault if it loses so many times what the other does.
constexpr double kOneSided = 4;
constexpr std::uint64_t kDirectionLosses = 5;

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
}

bool is_one_sided(const Tally& one, const Tally& other) {
  return one.lost >= kDirectionLosses && one.loss() > kOneSided * other.loss() &&
         stands_out(one, other, 1);
}

}  // namespace

double chance_of(const Tally& part, const Tally& rest) {
  const auto sent = static_cast<double>(part.sent + rest.sent);
  if (part.lost == 0 || part.sent == 0 || rest.sent == 0) return 1;
  const double share = static_cast<double>(part.sent) / sent;
  const std::uint64_t all = part.lost + rest.lost;
  const auto losses = static_cast<double>(all);
  const double mean = losses * share;
  double chance = 0;
  for (std::uint64_t lost = part.lost; lost <= all; ++lost) {
    const auto k = static_cast<double>(lost);
    const double term =
        std::exp(log_choose(losses, k) + k * std::log(share) + (losses - k) * std::log1p(-share));
    chance += term;
    if (k > mean && term < chance * kNegligible + 1e-300) break;
  }
  return std::fmin(chance, 1);
}

bool stands_out(const Tally& part, const Tally& rest, std::uint64_t candidates) {
  const double error = rest.lost == 0 ? kErrorOnce : kErrorRepeated;
  return chance_of(part, rest) * static_cast<double>(candidates) < error;
}

Direction direction_of(const Tally& up, const Tally& down) {
  if (is_one_sided(up, down)) return Direction::kUp;
  if (is_one_sided(down, up)) return Direction::kDown;
  const bool both = up.lost >= kDirectionLosses && down.lost >= kDirectionLosses &&
                    up.loss() <= kOneSided * down.loss() && down.loss() <= kOneSided * up.loss();
  return both ? Direction::kBoth : Direction::kUnknown;
}

}  // namespace openmrc::mapper
