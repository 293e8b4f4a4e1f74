// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace openmrc::wire {

// Why received bytes are not a valid MRC packet; reject.def is the table behind it (WIRE-3).
enum class Reject : std::uint8_t {
#define OPENMRC_REJECT(enumerator, counter, text) enumerator,
#include "openmrc/wire/field/reject.def"
#undef OPENMRC_REJECT
};

struct RejectInfo {
  std::string_view counter{};  // stable name for programs
  std::string_view text{};     // what happened, for people
};

inline constexpr std::array kRejectTable{
#define OPENMRC_REJECT(enumerator, counter, text) RejectInfo{counter, text},
#include "openmrc/wire/field/reject.def"
#undef OPENMRC_REJECT
};

constexpr const RejectInfo& describe(Reject reason) {
  return kRejectTable[static_cast<std::size_t>(reason)];
}

// How often each reason occurred.
class RejectCounters {
 public:
  void count(Reject reason) { ++counts_[static_cast<std::size_t>(reason)]; }
  [[nodiscard]] std::uint64_t of(Reject reason) const {
    return counts_[static_cast<std::size_t>(reason)];
  }

 private:
  std::array<std::uint64_t, kRejectTable.size()> counts_{};
};

}  // namespace openmrc::wire
