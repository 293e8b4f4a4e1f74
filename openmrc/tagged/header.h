// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "openmrc/base/bytes.h"

// What two members of a group send each other, as SENDs.
namespace openmrc::tagged {

enum class Kind : std::uint8_t {
  kEager = 1,  // a message with its bytes
  kAnnounce,   // a message whose bytes are to be READ
  kRead,       // they have been
  kCredit,     // nothing but `consumed`
  kAbort,      // the sender has given up the group; the payload says why
  kClose,      // the sender has left the group, and sends nothing more
};

//    0   1   2       4               8                      16
//   +---+---+-------+---------------+-----------------------+
//   |ver|knd|   0   |   consumed    |          tag          |
//   +---+---+-------+---------------+-----------------------+
//   |         length                |        address        |
//   +---------------+---------------+-----------------------+
//   |     rkey      |      id       |
//   +---------------+---------------+
// Numbers are in network order. Fields that a kind does not use are 0.
struct Header {
  static constexpr std::size_t kSize = 40;
  static constexpr std::uint8_t kVersion = 1;

  Kind kind = Kind::kCredit;
  std::uint32_t consumed = 0;  // kEagers that the sender has taken so far, modulo 2^32
  std::uint64_t tag = 0;
  std::uint64_t length = 0;   // of the message
  std::uint64_t address = 0;  // kAnnounce: where its bytes are
  std::uint32_t rkey = 0;
  std::uint32_t id = 0;  // kAnnounce: a name for it; kRead: of which

  bool operator==(const Header&) const = default;

  // Nothing: another version, no such kind, or a length that is not that of the payload.
  [[nodiscard]] static std::optional<Header> read(ConstBytes message);
  void write(std::span<std::byte, kSize> out) const;
};

// Messages up to this size go with their header. A copy of so many bytes costs less than the round
// trip of a READ.
inline constexpr std::size_t kEagerMax = 16 * 1024;
// kEagers that a member may have sent and the other one not yet taken; what is beyond is announced,
// whatever its size. So a member that does not ask for messages holds so many bytes at the most.
inline constexpr std::uint32_t kEagerBudget = 32;
// Announced messages that a member may have sent and the other one not yet asked for.
inline constexpr std::size_t kAnnouncedMax = 1u << 16;
// What kAbort may say.
inline constexpr std::size_t kReasonMax = 1024;

inline constexpr std::size_t kSlotSize = Header::kSize + kEagerMax;

}  // namespace openmrc::tagged
