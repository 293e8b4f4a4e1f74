// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/picoseconds.h"

namespace openmrc::sim {

// The parameters of DCQCN (Zhu et al., SIGCOMM 2015). Start from dcqcn_defaults().
struct DcqcnSettings {
  std::int64_t line_bits_per_second = 0;  // the first rate, and the highest
  std::int64_t min_bits_per_second = 0;
  std::int64_t additive_bits_per_second = 0;  // R_AI
  std::int64_t hyper_bits_per_second = 0;     // R_HAI
  Picoseconds alpha_interval{};               // K: alpha decays after so long without a CNP
  Picoseconds increase_interval{};            // T: the rate rises after so long,
  std::int64_t increase_bytes = 0;            // B: and after so many bytes
  std::uint32_t fast_recovery_rounds = 0;     // F
};

// The published values, those for a 40 Gb/s line scaled to this one: K = T = 55 us, F = 5; at
// 40 Gb/s B = 10 MB and R_AI = 40 Mb/s. R_HAI is ten times R_AI, as NICs have it. The least rate is
// a thousandth of the line.
DcqcnSettings dcqcn_defaults(std::int64_t line_bits_per_second);

// At most one congestion notification in so long from the receiver to a queue pair. This is what
// keeps cuts apart, so the sender has no limit of its own.
inline constexpr Picoseconds kCnpInterval{50'000'000};

// The rate of one queue pair. A notification cuts it; time and bytes sent without one bring it
// back: five times half of the way to where it was, then beyond, in steps.
//
// There are no timers: whoever asks for the rate says what time it is. Integers only, so that a run
// is the same on every machine.
class Dcqcn {
 public:
  // `settings` outlive it.
  explicit Dcqcn(const DcqcnSettings& settings);

  void on_congestion(Picoseconds now);
  void on_sent(Picoseconds now, std::uint32_t bytes);
  [[nodiscard]] std::int64_t rate(Picoseconds now) {
    advance(now);
    return rate_;
  }

 private:
  void advance(Picoseconds now);
  void increase();

  const DcqcnSettings* settings_;
  std::int64_t rate_;     // bits per second
  std::int64_t target_;   // what it rises towards
  std::int64_t alpha_;    // how congested the path is; kAlphaOne: wholly
  Picoseconds alpha_at_;  // when alpha decays next
  Picoseconds increase_at_;
  std::int64_t bytes_left_ = 0;     // until the rate rises
  std::uint32_t timer_rounds_ = 0;  // rises since the last cut by time,
  std::uint32_t byte_rounds_ = 0;   // and by bytes
};

}  // namespace openmrc::sim
