// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/tally.h"

#include <cmath>

namespace openmrc::mapper {
namespace {

constexpr double kErrorOnce = 1e-3;
constexpr double kErrorRepeated = 1e-6;
constexpr double kNegligible = 1e-15;

double log_choose(double n, double k) {
  return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
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

}  // namespace openmrc::mapper
