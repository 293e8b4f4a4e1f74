// SPDX-License-Identifier: BSD-3-Clause
// What forged SACKs with the highest receiver penalty cost at a round trip of 10 us (SECURITY.md):
// eight planes of 100 Gb/s, packets of 4 KiB, one queue pair.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <variant>

#include "tests/world/published_nic.h"
#include "tests/world/world.h"

namespace openmrc::test {
namespace {

constexpr Duration kRtt = microseconds(10);
constexpr std::uint32_t kMessage = 256u << 20;  // 2.8 ms
constexpr std::uint8_t kPenaltyMost = 127;

// What an attacker knows of a connection.
enum class Knows {
  kQueuePairs,  // their numbers, and the connection ids
  kEverything,  // the last SACK, and how much was sent
};

// Sends SACKs in the name of host B.
struct Attacker {
  Knows knows = Knows::kEverything;
  Duration every{};
  Rng rng{1};
  std::optional<core::Transmit> last_sack{};
  ByteCount sent_bytes{};  // by host A

  static void record(void* context, Instant, Side side, const core::Transmit& transmit) {
    Attacker& self = *static_cast<Attacker*>(context);
    const wire::Body& body = transmit.packet.transport.body;
    if (const auto* write = std::get_if<wire::RdmaWrite>(&body)) {
      if (side == Side::kA)
        self.sent_bytes += ByteCount(static_cast<std::int64_t>(write->payload.size()));
    }
    if (side == Side::kB && std::holds_alternative<wire::Sack>(body)) self.last_sack = transmit;
  }

  // All that was sent has arrived, and was too much.
  [[nodiscard]] core::Transmit forge() {
    core::Transmit forged = *last_sack;
    auto& sack = std::get<wire::Sack>(forged.packet.transport.body);
    sack.cc_state.receiver_penalty = kPenaltyMost;
    sack.cc_state.received_units = wire::received_units(sent_bytes);
    if (knows == Knows::kQueuePairs) {
      sack.seth.cack_psn = Psn(static_cast<std::uint32_t>(rng.next()) & 0xffffff);
      sack.cc_state.received_units =
          static_cast<std::uint32_t>(rng.next()) & wire::kReceivedUnitsMask;
    }
    return forged;
  }
};

// How long the message takes, to a microsecond.
Duration run(Attacker attacker) {
  World world(published_nic_world(kRtt, kMessage));
  world.observe(&Attacker::record, &attacker);
  Instant next = Instant{} + attacker.every;
  while (!world.all_done() && world.verdict().ok()) {
    world.run_until(world.now() + microseconds(1));
    if (world.now() < next || !attacker.last_sack || world.all_done()) continue;
    next = next + attacker.every;
    const core::Transmit forged = attacker.forge();
    world.endpoint(Side::kA).handle_packet(world.now(), forged.plane, forged.packet);
  }
  EXPECT_EQ(world.verdict().text().value_or("none"), "none");
  return world.now() - Instant{};
}

// Part of the goodput that is left.
double kept(Knows knows, std::int64_t a_second) {
  static const Duration kUndisturbed = run({.every = seconds(1)});
  const Duration disturbed = run({.knows = knows, .every = nanoseconds(1'000'000'000 / a_second)});
  const double share =
      static_cast<double>(kUndisturbed.raw()) / static_cast<double>(disturbed.raw());
  std::printf("%ld forged penalties a second: %.1f %% of the goodput\n",
              static_cast<long>(a_second), share * 100);
  return share;
}

TEST(ForgedPenalty, CostsNothingIfSequenceNumbersAreUnknown) {
  EXPECT_GT(kept(Knows::kQueuePairs, 1'000'000), 0.99);
}

// Whoever can read the packets can also drop them; this is the cheaper way.
TEST(ForgedPenalty, OfOneWhoReadsThePacketsCostsHalfAtEightThousandASecond) {
  EXPECT_GT(kept(Knows::kEverything, 8'000), 0.4);
  EXPECT_GT(kept(Knows::kEverything, 100'000), 0.1);
}

}  // namespace
}  // namespace openmrc::test
