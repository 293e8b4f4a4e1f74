// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "openmrc/base/time.h"
#include "openmrc/core/paths/ev_profile.h"

namespace openmrc::core {

// The EVs of a plane that were last seen to work: a ring (REPS has one for data). What was seen
// long ago is no proof.
class ProvenEvs {
 public:
  void add(EvIndex ev, Instant until) {
    if (size_ == 0 || evs_[newest_] != ev) {
      newest_ = static_cast<std::uint8_t>((newest_ + 1) % kSize);
      evs_[newest_] = ev;
      if (size_ < kSize) ++size_;
    }
    until_[newest_] = until;
  }
  void remove(EvIndex ev) {
    for (std::size_t i = 0; i < kSize; ++i) {
      if (evs_[i] == ev) until_[i] = Instant{};
    }
  }
  void clear() { size_ = 0; }

  // One after the other, the newest first; nothing if there is none.
  [[nodiscard]] std::optional<EvIndex> next(Instant now) {
    for (unsigned tries = size_; tries > 0; --tries) {
      turn_ = static_cast<std::uint8_t>(turn_ + 1 < size_ ? turn_ + 1 : 0);
      const unsigned at = (newest_ + kSize - turn_) % kSize;
      if (until_[at] >= now) return evs_[at];
    }
    size_ = 0;
    return std::nullopt;
  }
  // Whether next() would find one.
  [[nodiscard]] bool has_any(Instant now) const {
    for (unsigned i = 0; i < size_; ++i) {
      if (until_[(newest_ + kSize - i) % kSize] >= now) return true;
    }
    return false;
  }

  static constexpr unsigned kSize = 8;

 private:
  // A peer has one for each plane: apart, they take little more than half of the room.
  std::array<Instant, kSize> until_{};  // how long each is proof
  std::array<EvIndex, kSize> evs_{};
  std::uint8_t newest_ = 0;
  std::uint8_t size_ = 0;
  std::uint8_t turn_ = 0;
};

}  // namespace openmrc::core
