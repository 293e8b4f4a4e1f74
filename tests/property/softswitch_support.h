// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "openmrc/softswitch/switch.h"
#include "openmrc/wire/encode.h"

// What the properties of the switch share.
namespace openmrc::softswitch {

using Bytes = std::vector<std::byte>;

inline constexpr wire::WireSettings kBothPortsNoIcrc{.udp_port_alternate = wire::kUdpPortAlternate,
                                                     .icrc_check = wire::IcrcCheck::kSkip};
inline constexpr std::uint32_t kBlock = 0xfcbb'bb00;

#define OPENMRC_HOLDS(description, ...)               \
  do {                                                \
    EXPECT_TRUE(rc::check(description, __VA_ARGS__)); \
  } while (false)

// Choices that RapidCheck can shrink.
inline std::vector<std::uint64_t> any_choices(std::size_t count) {
  return *rc::gen::container<std::vector<std::uint64_t>>(count,
                                                         rc::gen::arbitrary<std::uint64_t>());
}

inline Bytes encode(const wire::Packet& packet) {
  Bytes bytes(wire::encoded_size(packet));
  wire::encode_packet(packet, kBothPortsNoIcrc, bytes);
  return bytes;
}

inline PortIndex port(std::size_t index) { return PortIndex(static_cast<std::uint16_t>(index)); }

// What became of all packets of a test: it shall not hold because nothing happened.
struct Tally {
  std::uint64_t forwarded = 0;
  std::uint64_t trimmed = 0;
  std::uint64_t marked = 0;
  DropCounters dropped{};
};

inline void expect_all_seen(const Tally& tally, std::initializer_list<Drop> reasons) {
  EXPECT_GT(tally.forwarded, 0u);
  for (const Drop reason : reasons) {
    EXPECT_GT(tally.dropped.of(reason), 0u) << describe(reason).counter;
  }
}

// Over all ports: what came in has left, waits, or was dropped for a reason.
inline void expect_packet_accounting(const Switch& it) {
  std::uint64_t received = 0;
  std::uint64_t transmitted = 0;
  std::uint64_t dropped = 0;
  for (std::size_t i = 0; i < it.ports(); ++i) {
    const PortCounters& counters = it.counters(port(i));
    received += counters.received;
    transmitted += counters.transmitted;
    dropped += counters.dropped.total();
    const std::uint64_t waiting = it.waiting(port(i), QueueClass::kData).packets() +
                                  it.waiting(port(i), QueueClass::kControl).packets();
    RC_ASSERT(counters.forwarded == counters.transmitted + waiting);
  }
  RC_ASSERT(received == transmitted + it.packets_waiting() + dropped);
}

}  // namespace openmrc::softswitch
