// SPDX-License-Identifier: BSD-3-Clause
// What is published about MRC, reproduced on a simple model: eight planes of 100 Gb/s, 256 EVs, a
// round trip of 12 us, packets of 4 KiB, one queue pair.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/world/published_nic.h"
#include "tests/world/world.h"

namespace openmrc::test {
namespace {

constexpr Duration kRtt = microseconds(12);
constexpr std::uint32_t kLargeMessage = 64u << 20;

double to_double(std::uint64_t count) { return static_cast<double>(count); }

WorldOptions published_world(std::uint32_t message) { return published_nic_world(kRtt, message); }

struct Outcome {
  Duration took{};
  core::Counters sender{};
};

Outcome run_to_end(const WorldOptions& options) {
  const WorldResult result = run_world(options);
  EXPECT_EQ(result.violation.value_or("none"), "none");
  EXPECT_EQ(result.writes_succeeded, options.writes.size());
  return {.took = result.when, .sender = result.counters[0]};
}

// Share of the time that the bytes need at line rate, headers included.
double share_of_line_rate(std::uint32_t message, Duration took) {
  const double packets = to_double((message + kNicMtu - 1) / kNicMtu);
  const double bits = (to_double(message) + packets * 88) * 8;
  return bits / static_cast<double>(kNicPortRate * kNicPlanes) * 1e9 /
         static_cast<double>(took.raw());
}

double share_with_loss(Ratio chance) {
  WorldOptions options = published_world(kLargeMessage);
  if (chance.numerator > 0) options.faults = {{.kind = FaultKind::kLoss, .chance = chance}};
  const double share = share_of_line_rate(kLargeMessage, run_to_end(options).took);
  ::testing::Test::RecordProperty("percent_of_line_rate", std::to_string(share * 100));
  std::printf("loss %lu of %lu: %.1f %% of line rate\n", chance.numerator, chance.denominator,
              share * 100);
  return share;
}

// MRC 7.4.4, 9.3.1; P1 figure 16.
TEST(PublishedBehaviour, WithoutLossReachesLineRate) { EXPECT_GE(share_with_loss({0, 1}), 0.95); }
TEST(PublishedBehaviour, LossOfOneInAThousandCostsAtMostATenth) {
  EXPECT_GE(share_with_loss({1, 1000}), 0.90);
}
TEST(PublishedBehaviour, LossOfOneInAHundredLeavesAtLeastAThird) {
  EXPECT_GE(share_with_loss({1, 100}), 1.0 / 3);
}

// Data packets of host A, as they leave.
struct Sent {
  Instant when;
  core::EvIndex ev;
  Plane plane;
};
struct Log {
  const core::EvProfile* profile = nullptr;
  std::vector<Sent> sent;

  static void record(void* log, Instant now, Side side, const core::Transmit& transmit) {
    const bool data = std::holds_alternative<wire::RdmaWrite>(transmit.packet.transport.body);
    if (side != Side::kA || !data) return;
    Log& self = *static_cast<Log*>(log);
    const auto ev = self.profile->find(wire::ev_of(transmit.packet));
    self.sent.push_back({now, *ev, transmit.plane});
  }
};

// A world that is stopped at `until`, and what its host A sent.
Log run_and_log(const WorldOptions& options, Duration until, core::Counters* counters = nullptr) {
  World world(options);
  Log log{.profile = &world.endpoint(Side::kA).ev_profile(core::EvProfileId(0)), .sent = {}};
  world.observe(&Log::record, &log);
  world.run_until(Instant{} + until);
  EXPECT_EQ(world.verdict().text().value_or("none"), "none");
  if (counters != nullptr) *counters = world.endpoint(Side::kA).counters();
  log.profile = nullptr;
  return log;
}

// How long a path stays in use after it died, and how long after it healed it is used again.
struct Absence {
  Duration used_after_first_loss{};
  std::optional<Duration> back_after_healing;
};

Absence absence_of(core::EvIndex dead) {
  constexpr Duration kDies = microseconds(100);
  constexpr Duration kHeals = microseconds(300);
  WorldOptions options = published_world(kLargeMessage * 2);
  options.seed = dead.raw();
  options.faults = {{.kind = FaultKind::kBlackHole, .from = kDies, .to = kHeals, .ev = dead}};
  const Log log = run_and_log(options, microseconds(900));
  std::optional<Instant> first_loss;
  Absence absence;
  for (const Sent& sent : log.sent) {
    if (sent.ev != dead || sent.when < Instant{} + kDies) continue;
    if (sent.when >= Instant{} + kHeals) {
      if (!absence.back_after_healing) {
        absence.back_after_healing = sent.when - (Instant{} + kHeals);
      }
    } else {
      if (!first_loss) first_loss = sent.when;
      absence.used_after_first_loss = sent.when - *first_loss;
    }
  }
  EXPECT_TRUE(first_loss.has_value()) << "the path carried nothing when it died";
  return absence;
}

// MRC 7.3, 7.4.7, 9.3.1: one EV of 256 drops everything for a while; the worst of several.
// PATH-40
TEST(PublishedBehaviour, ADeadPathIsOutOfUseWithinTwoRoundTripsAndComesBack) {
  Duration longest_use{};
  Duration longest_absence{};
  for (const unsigned dead : {0u, 31u, 77u, 128u, 200u, 255u}) {
    const Absence absence = absence_of(core::EvIndex(static_cast<std::uint8_t>(dead)));
    longest_use = std::max(longest_use, absence.used_after_first_loss);
    ASSERT_TRUE(absence.back_after_healing) << "EV " << dead << " did not come back";
    longest_absence = std::max(longest_absence, *absence.back_after_healing);
  }
  std::printf("dead path: last used %ld ns after its first loss (%.2f round trips)\n",
              longest_use.raw(),
              static_cast<double>(longest_use.raw()) / static_cast<double>(kRtt.raw()));
  std::printf("back in use %ld us after it healed\n", longest_absence.raw() / 1000);
  EXPECT_LE(longest_use, kRtt * 2);
}

std::size_t arrived_in(const Log& log, std::optional<Plane> except, Duration from, Duration to) {
  std::size_t count = 0;
  for (const Sent& sent : log.sent) {
    const bool inside = sent.when >= Instant{} + from && sent.when < Instant{} + to;
    if (inside && (!except || sent.plane != *except)) ++count;
  }
  return count;
}

// MRC 9.3.2: a plane of eight goes away without a word.
TEST(PublishedBehaviour, ALostPlaneCostsItsShareAndSettlesWithinTenRoundTrips) {
  constexpr Plane kLost{3};
  constexpr Duration kDies = microseconds(200);
  constexpr Duration kSpan = microseconds(240);
  const Duration settled = kDies + kRtt * 10;
  WorldOptions options = published_world(192u << 20);
  options.faults = {{.kind = FaultKind::kBlackHole, .from = kDies, .plane = kLost}};
  const Log log = run_and_log(options, settled + kSpan);
  const double before =
      to_double(arrived_in(log, std::nullopt, kDies - microseconds(120), kDies)) * 2;
  const double after = to_double(arrived_in(log, kLost, settled, settled + kSpan));
  const double on_lost_plane =
      to_double(arrived_in(log, std::nullopt, settled, settled + kSpan)) - after;
  std::printf(
      "plane lost: %.1f %% of the rate before, %.0f packets on the lost plane after 10 RTT\n",
      100 * after / before, on_lost_plane);
  EXPECT_GE(after / before, 7.0 / 8 - 0.02);
  EXPECT_EQ(on_lost_plane, 0);
}

// MRC 7.5.2.1, 9.3.1, 11.2.2: congestion on a path is not failure.
TEST(PublishedBehaviour, MarksMoveTrafficOffAPathWithoutARetransmission) {
  constexpr core::EvIndex kMarked{100};
  WorldOptions options = published_world(192u << 20);
  options.faults = {{.kind = FaultKind::kMark, .side = Side::kA, .ev = kMarked}};
  core::Counters counters;
  const Log log = run_and_log(options, microseconds(1500), &counters);
  std::array<double, 256> uses{};
  for (const Sent& sent : log.sent) ++uses[sent.ev.raw()];
  double others = 0;
  for (std::size_t i = 0; i < uses.size(); ++i) others += i == kMarked.raw() ? 0 : uses[i] / 255;
  const double share = uses[kMarked.raw()] / others;
  std::printf("marked path: %.0f %% of the others' traffic\n", share * 100);
  EXPECT_LE(share, 0.7);
  for (const core::Count retransmitted :
       {core::Count::kRetransmitsLoss, core::Count::kRetransmitsProbe,
        core::Count::kRetransmitsTimeout, core::Count::kRetransmitsTrim,
        core::Count::kRetransmitsRefused, core::Count::kEvsLost}) {
    EXPECT_EQ(counters.of(retransmitted), 0u) << core::describe(retransmitted).name;
  }
}

// MRC 7.5.3: what a trim costs: the same transfer, once with one packet cut.
TEST(PublishedBehaviour, ATrimmedPacketCostsOneRoundTripNotATimeout) {
  constexpr std::uint32_t kMessage = 64 * 1024;
  const Outcome clean = run_to_end(published_world(kMessage));
  WorldOptions options = published_world(kMessage);
  // The packets that leave first, one for each port.
  options.faults = {{.kind = FaultKind::kTrim, .to = nanoseconds(1), .side = Side::kA}};
  const Outcome trimmed = run_to_end(options);
  const Duration cost = trimmed.took - clean.took;
  std::printf("%lu packets trimmed: %ld ns later (round trip %ld ns)\n",
              trimmed.sender.of(core::Count::kRetransmitsTrim), cost.raw(), kRtt.raw());
  EXPECT_GE(trimmed.sender.of(core::Count::kRetransmitsTrim), 1u);
  EXPECT_EQ(trimmed.sender.of(core::Count::kTimeouts), 0u);
  EXPECT_LE(cost, kRtt + microseconds(1));
}

}  // namespace
}  // namespace openmrc::test
