// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/mapper.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "openmrc/mapper/test_network.h"

namespace openmrc::mapper {
namespace {

using Names = std::vector<std::string>;
using test::kMillion;
using test::Rig;

TEST(Mapper, FindsNothingInAHealthyNetwork) {
  Rig rig;
  rig.run(seconds(200));
  EXPECT_EQ(rig.names(), (Names{}));
  const MapperCounters& counters = rig.mapper.counters();
  EXPECT_NEAR(static_cast<double>(counters.rounds), 40'000, 10);
  EXPECT_EQ(counters.sent, counters.rounds * 3 * 4);
  EXPECT_EQ(counters.rounds_host_late + counters.rounds_all_planes, 0u);
  EXPECT_GE(counters.rounds_judged + 100, counters.rounds);
}

TEST(Mapper, NamesACutUplinkWithinASecond) {
  Rig rig;
  rig.run(seconds(10));
  const Instant cut = rig.now;
  rig.network.lose_both(rig.link("p2.t0-0/up1"), kMillion);
  rig.run(seconds(1), true);
  const auto verdicts = rig.mapper.judge().verdicts();
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts[0].link, rig.link("p2.t0-0/up1"));
  EXPECT_GE(verdicts[0].since + milliseconds(125), cut);
  rig.run(seconds(1));
  EXPECT_EQ(rig.names(), (Names{"p2.t0-0/up1 both"}));
  EXPECT_GT(rig.mapper.judge().verdicts()[0].loss, 0.9);
}

TEST(Mapper, NamesTheHostsOwnLink) {
  Rig rig;
  rig.network.lose_both(rig.link("h0/p3"), kMillion);
  rig.run(seconds(2));
  EXPECT_EQ(rig.names(), (Names{"p3.t0-0/down0 ?"}));
}

struct OneWayCase {
  const char* link;
  bool up;
  std::uint64_t loss;
  Duration span;
};

class OneWayLoss : public ::testing::TestWithParam<OneWayCase> {};

TEST_P(OneWayLoss, IsNamedWithItsDirection) {
  const OneWayCase& given = GetParam();
  Rig rig;
  rig.run(seconds(5));
  rig.network.losses[{rig.link(given.link), given.up}] = given.loss;
  rig.run(given.span);
  EXPECT_EQ(rig.names(), (Names{std::string(given.link) + (given.up ? " up" : " down")}));
  const double real = static_cast<double>(given.loss) / kMillion;
  EXPECT_GT(rig.mapper.judge().verdicts().at(0).loss, real / 2);
  EXPECT_LT(rig.mapper.judge().verdicts().at(0).loss, real * 2);
}

INSTANTIATE_TEST_SUITE_P(Mapper, OneWayLoss,
                         ::testing::Values(OneWayCase{"p0.t0-0/up0", true, kMillion, seconds(2)},
                                           OneWayCase{"p0.t0-0/up0", false, kMillion, seconds(2)},
                                           OneWayCase{"p1.t0-0/up1", true, 200'000, seconds(5)},
                                           OneWayCase{"p1.t0-0/up1", false, 200'000, seconds(5)},
                                           OneWayCase{"p3.t0-0/up0", true, 10'000, seconds(60)},
                                           OneWayCase{"p3.t0-0/up1", false, 10'000, seconds(60)},
                                           OneWayCase{"p2.t0-0/up1", true, 1'000, seconds(400)}));

TEST(Mapper, LeavesLinksOfOtherRacksToThem) {
  Rig rig;
  rig.network.lose_both(rig.link("p0.t0-1/up0"), kMillion);
  rig.network.lose_both(rig.link("h2/p1"), kMillion);
  rig.run(seconds(30));
  EXPECT_EQ(rig.names(), (Names{}));
}

TEST(Mapper, ALossyHostLinkIsNotHeldAgainstUplinks) {
  for (const std::uint64_t loss : {200'000u, 10'000u}) {
    Rig rig;
    rig.network.lose_both(rig.link("h0/p1"), loss);
    rig.run(seconds(120));
    EXPECT_EQ(rig.names(), (Names{"p1.t0-0/down0 ?"}));
  }
}

TEST(Mapper, NamesSeveralLinksAtOnce) {
  Rig rig;
  rig.network.lose_both(rig.link("h0/p1"), kMillion);
  rig.network.losses[{rig.link("p0.t0-0/up0"), true}] = kMillion;
  rig.network.losses[{rig.link("p2.t0-0/up1"), false}] = 10'000;
  rig.run(seconds(120));
  EXPECT_EQ(rig.names(), (Names{"p0.t0-0/up0 up", "p1.t0-0/down0 ?", "p2.t0-0/up1 down"}));
}

TEST(Mapper, SaysThatALinkHasHealed) {
  for (const std::uint64_t loss : {kMillion, std::uint64_t{200'000}, std::uint64_t{10'000}}) {
    Rig rig;
    rig.network.lose_both(rig.link("p0.t0-0/up0"), loss);
    rig.run(seconds(60));
    EXPECT_EQ(rig.names().size(), 1u);
    rig.network.losses.clear();
    rig.run(seconds(60));
    EXPECT_EQ(rig.names(), (Names{})) << loss;
  }
}

// A loss long ago neither delays nor blurs what is found now.
TEST(Mapper, AnOldLossDoesNotBlurACut) {
  Rig rig;
  rig.network.lose_both(rig.link("p0.t0-0/up0"), kMillion);
  rig.run(milliseconds(11));
  rig.network.losses.clear();
  rig.run(seconds(100));
  rig.network.lose_both(rig.link("p0.t0-0/up0"), kMillion);
  const Instant cut = rig.now;
  rig.run(seconds(1));
  const auto verdicts = rig.mapper.judge().verdicts();
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_GE(verdicts[0].since + milliseconds(125), cut);
  EXPECT_GT(verdicts[0].loss, 0.8);
}

TEST(Mapper, AProcessThatIsStoppedAccusesNobody) {
  Rig rig;
  for (int i = 0; i < 50; ++i) {
    rig.run(milliseconds(700));
    rig.stop(milliseconds(100 + 97 * i));
  }
  rig.run(seconds(1));
  EXPECT_EQ(rig.names(), (Names{}));
  EXPECT_GT(rig.mapper.counters().rounds_host_late, 0u);
}

// Replies wait in the socket, which overflows.
TEST(Mapper, PacketsThatTheHostLosesAccuseNobody) {
  Rig rig;
  for (int i = 0; i < 50; ++i) {
    rig.run(milliseconds(700));
    rig.network.is_paused = true;
    rig.stop(milliseconds(60));
    rig.run(milliseconds(20));
    rig.network.is_paused = false;
    rig.mapper.lost_here();
  }
  EXPECT_EQ(rig.names(), (Names{}));
}

TEST(Mapper, ANetworkThatStandsStillAccusesNobody) {
  Rig rig;
  for (int i = 0; i < 20; ++i) {
    rig.run(milliseconds(900));
    rig.network.is_paused = true;
    rig.run(milliseconds(10 + 150 * i));
    rig.network.is_paused = false;
  }
  rig.run(seconds(1));
  EXPECT_EQ(rig.names(), (Names{}));
  EXPECT_GT(rig.mapper.counters().rounds_all_planes, 0u);
}

// Every link loses a little, as kernels do under load: longer ways lose more.
TEST(Mapper, EvenLossAccusesNobody) {
  for (const std::uint64_t loss : {100u, 1'000u, 10'000u, 50'000u}) {
    Rig rig(test::kSmall, loss);
    rig.network.everywhere = loss;
    rig.run(seconds(120));
    EXPECT_EQ(rig.names(), (Names{})) << loss;
  }
}

TEST(Mapper, FindsALossyLinkAmongEvenLoss) {
  Rig rig;
  rig.network.everywhere = 500;
  rig.network.lose_both(rig.link("p1.t0-0/up0"), 100'000);
  rig.run(seconds(60));
  EXPECT_EQ(rig.names(), (Names{"p1.t0-0/up0 both"}));
}

TEST(Mapper, TakesNothingThatItHasNotSent) {
  Rig rig;
  rig.run(seconds(1));
  const std::uint64_t replied = rig.mapper.counters().replied;
  std::array<std::byte, kProbeSize> bytes{};
  write_probe({.round = rig.mapper.counters().rounds - 1, .sent = rig.now}, {1, 2}, bytes);
  rig.mapper.receive(Plane(0), bytes, rig.now);
  rig.mapper.receive(Plane(0), {}, rig.now);
  write_probe({.round = 1'000'000, .sent = rig.now}, {1, 7}, bytes);  // our key, no such round
  rig.mapper.receive(Plane(0), bytes, rig.now);
  write_probe({.path = {.plane = Plane(1)}, .round = 1}, {1, 7}, bytes);
  rig.mapper.receive(Plane(0), bytes, rig.now);  // by the port of another plane
  EXPECT_EQ(rig.mapper.counters().foreign, 4u);
  EXPECT_EQ(rig.mapper.counters().replied, replied);
}

// Whoever records replies and sends them again cannot hide a loss.
TEST(Mapper, CountsAReplyOnce) {
  Rig rig;
  const auto probes = rig.mapper.round(rig.now);
  const Mapper::Outgoing first = probes[0];
  rig.mapper.sent(first.path);
  rig.mapper.receive(first.path.plane, first.bytes, rig.now);
  rig.mapper.receive(first.path.plane, first.bytes, rig.now);
  EXPECT_EQ(rig.mapper.counters().replied, 1u);
  EXPECT_EQ(rig.mapper.counters().repeated, 1u);
  rig.run(seconds(1));
  rig.mapper.receive(first.path.plane, first.bytes, rig.now);
  EXPECT_EQ(rig.mapper.counters().late, 1u);
}

TEST(Mapper, WorksWithoutT1AndWithOnePlane) {
  Rig rig({.planes = 1, .racks = 1, .hosts_per_rack = 4});
  rig.run(seconds(10));
  EXPECT_EQ(rig.mapper.counters().sent, rig.mapper.counters().rounds);
  rig.network.lose_both(rig.link("h0/p0"), 500'000);
  rig.run(seconds(10));
  EXPECT_EQ(rig.names(), (Names{"p0.t0-0/down0 ?"}));
}

}  // namespace
}  // namespace openmrc::mapper
