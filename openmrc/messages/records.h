// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "openmrc/base/ids.h"
#include "openmrc/base/network_order.h"
#include "openmrc/messages/name.h"

// The payloads of the layer's own messages, in network order.
namespace openmrc::messages {

// How many receives there are (MSG-20).
//
//    0   1           4       6   7   8
//   +---+-----------+-------+---+---+
//   |L  |   limit   | echo  |rnr|dep|
//   +---+-----------+-------+---+---+
struct Credit {
  static constexpr std::size_t kSize = 8;
  static constexpr std::uint32_t kLackingBit = 0x80000000;
  Sequence limit{};        // messages with a smaller sequence number may be sent
  bool lacking = false;    // one that was sent has no receive (MSG-29)
  std::uint16_t echo = 0;  // of the last ASK
  std::uint8_t rnr = 0;    // RnrTimer
  std::uint8_t depth = 0;  // of READs and atomic operations that are taken at once

  static constexpr Credit read(std::span<const std::byte, kSize> in) {
    return {.limit = Sequence(get_network_order<std::uint32_t>(in, 0)),
            .lacking = (get_network_order<std::uint32_t>(in, 0) & kLackingBit) != 0,
            .echo = get_network_order<std::uint16_t>(in, 4),
            .rnr = get_network_order<std::uint8_t>(in, 6),
            .depth = get_network_order<std::uint8_t>(in, 7)};
  }
  constexpr void write(std::span<std::byte, kSize> out) const {
    put_network_order(out, 0, limit.raw() | (lacking ? kLackingBit : 0));
    put_network_order(out, 4, echo);
    put_network_order(out, 6, rnr);
    put_network_order(out, 7, depth);
  }
};

// Whether there are receives by now (MSG-24).
//
//    0       2               6
//   +-------+---------------+
//   | echo  |      psn      |
//   +-------+---------------+
struct Ask {
  static constexpr std::size_t kSize = 6;
  std::uint16_t echo = 0;
  Psn psn{};  // with which whoever asks expects the answerer's first packet (MSG-27)

  static constexpr Ask read(std::span<const std::byte, kSize> in) {
    return {.echo = get_network_order<std::uint16_t>(in, 0),
            .psn = Psn(get_network_order<std::uint32_t>(in, 2) & 0xff'ffff)};
  }
  constexpr void write(std::span<std::byte, kSize> out) const {
    put_network_order(out, 0, echo);
    put_network_order(out, 2, psn.raw());
  }
};

// What a READ or an atomic operation asks for (MSG-32). `length` of an atomic operation is 8.
//
//    0                               8               12              16  17              24  32
//   +-------------------------------+---------------+---------------+---+---------------+---+---+
//   |            address            |      key      |    length     |op |       0       |operand,
//   swap
struct RemoteRequest {
  static constexpr std::size_t kSize = 40;
  enum class Operation : std::uint8_t { kRead = 0, kCompareAndSwap = 1, kFetchAndAdd = 2 };
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint32_t length = 0;
  Operation operation = Operation::kRead;
  std::uint64_t operand = 0;
  std::uint64_t swap = 0;

  // Its operation may be one that there is not.
  static constexpr RemoteRequest read(std::span<const std::byte, kSize> in) {
    return {.address = get_network_order<std::uint64_t>(in, 0),
            .key = get_network_order<std::uint32_t>(in, 8),
            .length = get_network_order<std::uint32_t>(in, 12),
            .operation = static_cast<Operation>(get_network_order<std::uint8_t>(in, 16)),
            .operand = get_network_order<std::uint64_t>(in, 24),
            .swap = get_network_order<std::uint64_t>(in, 32)};
  }
  constexpr void write(std::span<std::byte, kSize> out) const {
    put_network_order(out, 0, address);
    put_network_order(out, 8, key);
    put_network_order(out, 12, length);
    put_network_order(out, 16, std::uint64_t{0});
    put_network_order(out, 16, static_cast<std::uint8_t>(operation));
    put_network_order(out, 24, operand);
    put_network_order(out, 32, swap);
  }
};

}  // namespace openmrc::messages
