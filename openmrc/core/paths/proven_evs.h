// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
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
    if (size_ > 0 && entries_[newest_].ev == ev) {
      entries_[newest_].until = until;
      return;
    }
    newest_ = static_cast<std::uint8_t>((newest_ + 1) % kSize);
    entries_[newest_] = {.until = until, .ev = ev};
    if (size_ < kSize) ++size_;
  }
  void remove(EvIndex ev) {
    for (Entry& entry : entries_) {
      if (entry.ev == ev) entry.until = Instant{};
    }
  }
  void clear() { size_ = 0; }

  // One after the other, the newest first; nothing if there is none.
  [[nodiscard]] std::optional<EvIndex> next(Instant now) {
    for (unsigned tries = size_; tries > 0; --tries) {
      turn_ = static_cast<std::uint8_t>(turn_ + 1 < size_ ? turn_ + 1 : 0);
      const Entry& entry = entries_[(newest_ + kSize - turn_) % kSize];
      if (entry.until >= now) return entry.ev;
    }
    size_ = 0;
    return std::nullopt;
  }
  // Whether next() would find one.
  [[nodiscard]] bool has_any(Instant now) const {
    for (unsigned i = 0; i < size_; ++i) {
      if (entries_[(newest_ + kSize - i) % kSize].until >= now) return true;
    }
    return false;
  }

  static constexpr unsigned kSize = 8;

 private:
  struct Entry {
    Instant until{};
    EvIndex ev;
  };
  std::array<Entry, kSize> entries_{};
  std::uint8_t newest_ = 0;
  std::uint8_t size_ = 0;
  std::uint8_t turn_ = 0;
};

}  // namespace openmrc::core
