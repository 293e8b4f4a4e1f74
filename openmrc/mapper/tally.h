// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace openmrc::mapper {

// Fewer losses say nothing about a link.
inline constexpr std::uint64_t kLossesMin = 3;
// Full queues lose many probes at once, so that links which are as good as each other differ by
// more than chance. One is bad if it loses so many times what others do, and good again below the
// second: between them it stays what it was.
inline constexpr double kTimesBad = 3;
inline constexpr double kTimesGood = 2;

struct Tally {
  std::uint64_t sent = 0;
  std::uint64_t lost = 0;

  Tally& operator+=(const Tally& other) {
    sent += other.sent;
    lost += other.lost;
    return *this;
  }
  Tally& operator-=(const Tally& other) {
    sent -= other.sent;
    lost -= other.lost;
    return *this;
  }
  void halve() {
    sent /= 2;
    lost /= 2;
  }
  [[nodiscard]] double loss() const {
    return sent == 0 ? 0 : static_cast<double>(lost) / static_cast<double>(sent);
  }
  bool operator==(const Tally&) const = default;
};

// How likely so many of all losses, or more, would be in `part` if it were no worse than `rest`:
// the upper tail of a binomial distribution. Both have the same time and cause in common, so no
// rate has to be known.
double chance_of(const Tally& part, const Tally& rest);

// Of a cable, seen from the host: up is from the NIC to the T0, and from the T0 to the T1.
enum class Direction : std::uint8_t { kUnknown, kUp, kDown, kBoth };

// The one that loses much more than the other, or both if they lose much the same. Nobody knows as
// long as there are few losses.
Direction direction_of(const Tally& up, const Tally& down);

// Whether the losses of `part` are its own. Without any loss in the rest there is one question, of
// which of several `candidates` it is; with losses on both sides the question is asked again with
// each batch for as long as they last, so the answer has to be surer.
bool stands_out(const Tally& part, const Tally& rest, std::uint64_t candidates);

}  // namespace openmrc::mapper
