// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "openmrc/base/ids.h"
#include "openmrc/core/paths/ev_profile.h"

namespace openmrc::core {

// What an endpoint counts; counters.def is the table behind it.
enum class Count : std::uint8_t {
#define OPENMRC_COUNTER(enumerator, name, text) enumerator,
#include "openmrc/core/context/counters.def"
#undef OPENMRC_COUNTER
};

struct CounterInfo {
  std::string_view name{};  // stable, for programs
  std::string_view text{};  // for people
};

inline constexpr std::array kCounterTable{
#define OPENMRC_COUNTER(enumerator, name, text) CounterInfo{name, text},
#include "openmrc/core/context/counters.def"
#undef OPENMRC_COUNTER
};

constexpr const CounterInfo& describe(Count count) {
  return kCounterTable[static_cast<std::size_t>(count)];
}

class Counters {
 public:
  void add(Count count, std::uint64_t amount = 1) {
    counts_[static_cast<std::size_t>(count)] += amount;
  }
  [[nodiscard]] std::uint64_t of(Count count) const {
    return counts_[static_cast<std::size_t>(count)];
  }

  // Request packets in and out, by plane.
  void add_sent(Plane plane) { ++sent_[plane.raw()]; }
  void add_received(Plane plane) { ++received_[plane.raw()]; }
  [[nodiscard]] std::uint64_t sent(Plane plane) const { return sent_[plane.raw()]; }
  [[nodiscard]] std::uint64_t received(Plane plane) const { return received_[plane.raw()]; }
  // Request packets that did not arrive as they were sent, by the plane that they took.
  void add_lost(Plane plane) { ++lost_[plane.raw()]; }
  void add_trimmed(Plane plane) { ++trimmed_[plane.raw()]; }
  [[nodiscard]] std::uint64_t lost(Plane plane) const { return lost_[plane.raw()]; }
  [[nodiscard]] std::uint64_t trimmed(Plane plane) const { return trimmed_[plane.raw()]; }

  // To sum up several endpoints.
  Counters& operator+=(const Counters& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    for (std::size_t i = 0; i < kPlanesMax; ++i) {
      sent_[i] += other.sent_[i];
      received_[i] += other.received_[i];
      lost_[i] += other.lost_[i];
      trimmed_[i] += other.trimmed_[i];
    }
    return *this;
  }

 private:
  std::array<std::uint64_t, kCounterTable.size()> counts_{};
  std::array<std::uint64_t, kPlanesMax> sent_{};
  std::array<std::uint64_t, kPlanesMax> received_{};
  std::array<std::uint64_t, kPlanesMax> lost_{};
  std::array<std::uint64_t, kPlanesMax> trimmed_{};
};

}  // namespace openmrc::core
