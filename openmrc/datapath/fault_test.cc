// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/fault.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "openmrc/datapath/loopback.h"
#include "openmrc/datapath/test_packets.h"

namespace openmrc::datapath {
namespace {

constexpr auto kA = wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 0xa});
constexpr auto kB = wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 0xb});
constexpr std::size_t kSent = 2000;

struct Outcome {
  std::vector<std::uint32_t> arrived{};  // PSNs
  std::uint64_t dropped = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t rejected = 0;
};

// Sends kSent packets, on EVs 1 and 2 and planes 0 and 1 in turn.
Outcome run(const FaultSettings& settings) {
  LoopbackNetwork network;
  const auto a = with_faults(network.add({kA, kA}), settings);
  const auto b = network.add({kB, kB});
  const auto data = test_data(20);
  for (std::uint32_t i = 0; i < kSent; ++i) {
    const auto packet = test_write({.source = kA, .destination = kB, .ev = Ev(1 + i % 2)}, data, i);
    const Plane plane(static_cast<std::uint8_t>(i / 2 % 2));
    a->send(std::array{Outgoing{.packet = &packet, .plane = plane}});
  }
  Outcome outcome{.dropped = a->counters().of(Count::kFaultsDropped),
                  .duplicated = a->counters().of(Count::kFaultsDuplicated),
                  .corrupted = a->counters().of(Count::kFaultsCorrupted)};
  for (const auto& incoming : collect(*b, 2 * kSent, 0).incoming) {
    outcome.arrived.push_back(write_of(incoming).psn.raw());
  }
  outcome.rejected = b->counters().of(wire::Reject::kIcrcMismatch);
  return outcome;
}

TEST(Faults, AreNoneByDefault) {
  const Outcome outcome = run({});
  EXPECT_EQ(outcome.arrived.size(), kSent);
  EXPECT_EQ(outcome.dropped + outcome.duplicated + outcome.corrupted, 0u);
}

TEST(Faults, DropTheirPart) {
  const Outcome outcome = run({.drop = 0.2});
  EXPECT_NEAR(static_cast<double>(outcome.dropped), 0.2 * kSent, 0.05 * kSent);
  EXPECT_EQ(outcome.arrived.size(), kSent - outcome.dropped);
}

TEST(Faults, CorruptSoThatTheReceiverNotices) {
  const Outcome outcome = run({.corrupt = 0.1});
  EXPECT_GT(outcome.corrupted, 0u);
  EXPECT_EQ(outcome.rejected, outcome.corrupted);
  EXPECT_EQ(outcome.arrived.size(), kSent - outcome.corrupted);
}

TEST(Faults, Duplicate) {
  const Outcome outcome = run({.duplicate = 1});
  EXPECT_EQ(outcome.duplicated, kSent);
  EXPECT_EQ(outcome.arrived.size(), 2 * kSent);
}

TEST(Faults, KeepToTheirPlaneAndPath) {
  for (const std::uint32_t psn : run({.drop = 1, .plane = Plane(1)}).arrived) {
    EXPECT_EQ(psn / 2 % 2, 0u);
  }
  const Outcome on_path = run({.drop = 1, .ev = Ev(2)});
  EXPECT_EQ(on_path.arrived.size(), kSent / 2);
  for (const std::uint32_t psn : on_path.arrived) EXPECT_EQ(psn % 2, 0u);
}

TEST(Faults, AreAFunctionOfTheSeed) {
  EXPECT_EQ(run({.drop = 0.3, .seed = 5}).arrived, run({.drop = 0.3, .seed = 5}).arrived);
  EXPECT_NE(run({.drop = 0.3, .seed = 5}).arrived, run({.drop = 0.3, .seed = 6}).arrived);
}

}  // namespace
}  // namespace openmrc::datapath
