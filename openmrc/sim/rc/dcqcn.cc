// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/rc/dcqcn.h"

#include <algorithm>

namespace openmrc::sim {
namespace {

// Alpha has 20 bits behind the point: times a rate of 2^42 bit/s it stays within 63 bits.
constexpr unsigned kAlphaBits = 20;
constexpr std::int64_t kAlphaOne = std::int64_t{1} << kAlphaBits;

// g = 1/256: the weight of the last interval in alpha.
constexpr unsigned kGainShift = 8;

// Rounded up, so that alpha gets to zero in the end.
constexpr std::int64_t decayed(std::int64_t alpha) {
  return alpha - ((alpha + (1 << kGainShift) - 1) >> kGainShift);
}

}  // namespace

DcqcnSettings dcqcn_defaults(std::int64_t line_bits_per_second) {
  const std::int64_t thousandth = line_bits_per_second / 1'000;
  return {.line_bits_per_second = line_bits_per_second,
          .min_bits_per_second = thousandth,
          .additive_bits_per_second = thousandth,
          .hyper_bits_per_second = 10 * thousandth,
          .alpha_interval = Picoseconds(55'000'000),
          .increase_interval = Picoseconds(55'000'000),
          .increase_bytes = line_bits_per_second / 4'000,
          .fast_recovery_rounds = 5};
}

Dcqcn::Dcqcn(const DcqcnSettings& settings)
    : settings_(&settings),
      rate_(settings.line_bits_per_second),
      target_(settings.line_bits_per_second),
      alpha_(kAlphaOne),
      alpha_at_(kNoTime),
      increase_at_(kNoTime) {}

void Dcqcn::on_congestion(Picoseconds now) {
  advance(now);
  target_ = rate_;
  const std::int64_t cut = (rate_ * alpha_) >> (kAlphaBits + 1);
  rate_ = std::max(rate_ - cut, settings_->min_bits_per_second);
  alpha_ = decayed(alpha_) + (kAlphaOne >> kGainShift);
  alpha_at_ = now + settings_->alpha_interval;
  increase_at_ = now + settings_->increase_interval;
  bytes_left_ = settings_->increase_bytes;
  timer_rounds_ = byte_rounds_ = 0;
}

void Dcqcn::on_sent(Picoseconds now, std::uint32_t bytes) {
  advance(now);
  if (rate_ == settings_->line_bits_per_second) return;
  bytes_left_ -= bytes;
  if (bytes_left_ > 0) return;
  bytes_left_ += settings_->increase_bytes;
  ++byte_rounds_;
  increase();
}

// Lets happen what the two timers of the published algorithm would have done by now. Both stop by
// themselves: alpha at zero, the rate at that of the line.
void Dcqcn::advance(Picoseconds now) {
  while (alpha_ > 0 && alpha_at_ <= now) {
    alpha_ = decayed(alpha_);
    alpha_at_ += settings_->alpha_interval;
  }
  while (rate_ < settings_->line_bits_per_second && increase_at_ <= now) {
    ++timer_rounds_;
    increase();
    increase_at_ += settings_->increase_interval;
  }
}

void Dcqcn::increase() {
  const auto [fewer, more] = std::minmax(timer_rounds_, byte_rounds_);
  const std::uint32_t recovery = settings_->fast_recovery_rounds;
  if (fewer > recovery) {
    target_ += settings_->hyper_bits_per_second * (fewer - recovery);
  } else if (more > recovery) {
    target_ += settings_->additive_bits_per_second;
  }
  target_ = std::min(target_, settings_->line_bits_per_second);
  rate_ = (rate_ + target_ + 1) / 2;
}

}  // namespace openmrc::sim
