// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "openmrc/base/time.h"

namespace openmrc::core {

inline constexpr Instant kNever{std::numeric_limits<std::int64_t>::max()};

// Who wants to be woken; small enough to sit in the queue by value.
struct TimerOwner {
  enum class Kind : std::uint8_t { kQueuePair, kPeer };
  Kind kind{};
  std::uint32_t index = 0;

  constexpr auto operator<=>(const TimerOwner&) const = default;
};

// What an owner keeps of its timer.
struct Timer {
  Instant armed = kNever;
};

// Deadlines in order of time. Made for timers that are moved back with every packet and rarely
// fire: a later deadline is not entered; the owner is woken at the old one, sees that it is too
// early and arms again. So a packet costs a comparison, whatever the number of queue pairs.
class TimerQueue {
 public:
  // So many deadlines need no more memory.
  void reserve(std::size_t deadlines) { heap_.reserve(deadlines); }

  // Wakes the owner at `when` or before.
  void arm(Timer& timer, TimerOwner owner, Instant when) {
    if (when >= timer.armed) return;
    heap_.push_back({when, owner});
    timer.armed = when;
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>{});
  }

  struct Due {
    Instant when;
    TimerOwner owner;

    // Ties are broken by owner, so that a run is a function of its inputs.
    constexpr auto operator<=>(const Due&) const = default;
  };
  // The earliest deadline at or before `now`. The owner must pass it to `accept`: it may have been
  // armed for an earlier time since, and this is what is left of the old one.
  [[nodiscard]] std::optional<Due> pop_due(Instant now) {
    if (heap_.empty() || heap_.front().when > now) return std::nullopt;
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>{});
    const Due due = heap_.back();
    heap_.pop_back();
    return due;
  }
  static bool accept(Timer& timer, const Due& due) {
    if (timer.armed != due.when) return false;
    timer.armed = kNever;
    return true;
  }

  [[nodiscard]] std::optional<Instant> next() const {
    if (heap_.empty()) return std::nullopt;
    return heap_.front().when;
  }

 private:
  std::vector<Due> heap_;
};

}  // namespace openmrc::core
