// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>

namespace openmrc::softswitch {

// Why a switch dropped a packet; drop.def is the table behind it.
enum class Drop : std::uint8_t {
#define OPENMRC_DROP(enumerator, counter, text) enumerator,
#include "openmrc/softswitch/drop.def"
#undef OPENMRC_DROP
};

struct DropInfo {
  std::string_view counter{};  // stable name for programs
  std::string_view text{};     // what happened, for people
};

inline constexpr std::array kDropTable{
#define OPENMRC_DROP(enumerator, counter, text) DropInfo{counter, text},
#include "openmrc/softswitch/drop.def"
#undef OPENMRC_DROP
};

constexpr const DropInfo& describe(Drop reason) {
  return kDropTable[static_cast<std::size_t>(reason)];
}

// What the steps of a packet through the switch give back: nothing if all is well. What they find
// out they write into a record of the caller, which is quicker than to hand it up with the reason.
using Dropped = std::optional<Drop>;

// How often each reason occurred.
class DropCounters {
 public:
  void count(Drop reason) { ++counts_[static_cast<std::size_t>(reason)]; }
  [[nodiscard]] std::uint64_t of(Drop reason) const {
    return counts_[static_cast<std::size_t>(reason)];
  }
  [[nodiscard]] std::uint64_t total() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
  }

 private:
  std::array<std::uint64_t, kDropTable.size()> counts_{};
};

// What one port has seen. Over all ports: received = forwarded + dropped. At each port: forwarded =
// transmitted + waiting.
struct PortCounters {
  std::uint64_t received = 0;  // packets that came in here, whatever became of them
  std::uint64_t received_bytes = 0;
  std::uint64_t forwarded = 0;  // packets queued to leave here
  std::uint64_t trimmed = 0;    // of these, cut down here
  std::uint64_t transmitted = 0;
  std::uint64_t transmitted_bytes = 0;
  std::uint64_t marked = 0;  // of these, marked by ECN here
  DropCounters dropped{};    // drop.def says which port counts
};

}  // namespace openmrc::softswitch
