// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "openmrc/base/ids.h"
#include "openmrc/wire/field/reject.h"

namespace openmrc::datapath {

// Counters of a data path; counters.def is the table behind it.
enum class Count : std::uint8_t {
#define OPENMRC_COUNTER(enumerator, name, text) enumerator,
#include "openmrc/datapath/counters.def"
#undef OPENMRC_COUNTER
};

struct CounterInfo {
  std::string_view name{};  // stable, for programs
  std::string_view text{};  // for people
};

inline constexpr std::array kCounterTable{
#define OPENMRC_COUNTER(enumerator, name, text) CounterInfo{name, text},
#include "openmrc/datapath/counters.def"
#undef OPENMRC_COUNTER
};

constexpr const CounterInfo& describe(Count count) {
  return kCounterTable[static_cast<std::size_t>(count)];
}

// What passes a port, valid or not, as the counters of a NIC's port. Bytes are those that the
// socket has: without the headers that the kernel adds and takes off.
enum class PlaneCount : std::uint8_t {
  kSentPackets,
  kSentBytes,
  kReceivedPackets,
  kReceivedBytes,
  kFailedPackets,  // that the kernel did not take
};
inline constexpr std::size_t kPlaneCounts = 5;
inline constexpr std::size_t kPlaneCounted = 31;  // core::kPlanesMax, the most that there can be

// Only the thread that owns the data path adds; any thread may read while it does. What is read is
// each number as it was a moment ago, not all of them at one moment.
class Counters {
 public:
  void add(Count count, std::uint64_t amount = 1) {
    add_to(counts_[static_cast<std::size_t>(count)], amount);
  }
  void add(PlaneCount count, Plane plane, std::uint64_t amount) {
    add_to(planes_[plane.raw() % kPlaneCounted][static_cast<std::size_t>(count)], amount);
  }
  void add(wire::Reject reason) { add_to(rejects_[static_cast<std::size_t>(reason)], 1); }

  [[nodiscard]] std::uint64_t of(Count count) const {
    return counts_[static_cast<std::size_t>(count)].load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t of(PlaneCount count, Plane plane) const {
    return planes_[plane.raw()][static_cast<std::size_t>(count)].load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t of(wire::Reject reason) const {
    return rejects_[static_cast<std::size_t>(reason)].load(std::memory_order_relaxed);
  }

 private:
  using Number = std::atomic<std::uint64_t>;

  // One thread writes, so this need not be one step.
  static void add_to(Number& number, std::uint64_t amount) {
    number.store(number.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }

  std::array<Number, kCounterTable.size()> counts_{};
  std::array<Number, wire::kRejectTable.size()> rejects_{};
  std::array<std::array<Number, kPlaneCounts>, kPlaneCounted> planes_{};
};

}  // namespace openmrc::datapath
