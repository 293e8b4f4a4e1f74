// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/rc/ecmp.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>

namespace openmrc::sim {
namespace {

using fabric::HostIndex;

constexpr std::uint32_t kUplinks = 8;
constexpr std::uint32_t kFlows = 800;
constexpr Picoseconds kMillisecond{1'000'000'000};
constexpr Picoseconds kCut = kMillisecond * 5;
constexpr Picoseconds kRestored = kMillisecond * 9;
constexpr Plane kPlane{1};

class EcmpTest : public testing::Test {
 protected:
  EcmpTest() {
    scenario_.shape = {.planes = 2, .racks = 4, .hosts_per_rack = 4, .uplinks = kUplinks};
  }
  // From rack 0 to rack 2.
  static EcmpFlow flow(std::uint32_t qpn) {
    return {.from = HostIndex(1), .to = HostIndex(9), .qpn = Qpn(qpn)};
  }
  void cut(std::uint32_t rack, std::uint32_t uplink, Direction direction = Direction::kBoth) {
    scenario_.faults.push_back({.link = {.kind = fabric::LinkId::Kind::kUplink,
                                         .plane = kPlane,
                                         .rack = rack,
                                         .port = uplink},
                                .direction = direction,
                                .from = kCut,
                                .to = kRestored,
                                .down = true});
  }
  const Ecmp& ecmp() {
    if (!ecmp_) {
      network_.emplace(scenario_);
      ecmp_.emplace(*network_, kMillisecond);
    }
    return *ecmp_;
  }
  std::uint32_t uplink(std::uint32_t qpn, Picoseconds now) {
    return ecmp().path(flow(qpn), kPlane, now);
  }
  // Flows by uplink.
  std::array<std::uint32_t, kUplinks> spread(Picoseconds now) {
    std::array<std::uint32_t, kUplinks> counts{};
    for (std::uint32_t qpn = 0; qpn < kFlows; ++qpn) ++counts[uplink(qpn, now)];
    return counts;
  }

  Scenario scenario_;
  std::optional<Network> network_;
  std::optional<Ecmp> ecmp_;
};

TEST_F(EcmpTest, SpreadsFlowsOverAllPaths) {
  for (const std::uint32_t count : spread(Picoseconds{})) EXPECT_NEAR(count, kFlows / kUplinks, 40);
  std::uint32_t in_plane = 0;
  for (std::uint32_t qpn = 0; qpn < kFlows; ++qpn) in_plane += ecmp().plane(flow(qpn)).raw();
  EXPECT_NEAR(in_plane, kFlows / 2, 60);
}

TEST_F(EcmpTest, EverythingAboutAFlowCounts) {
  const auto places = [&](auto change) {
    std::uint32_t moved = 0;
    for (std::uint32_t qpn = 0; qpn < kFlows; ++qpn) {
      EcmpFlow other = flow(qpn);
      change(other);
      if (ecmp().path(other, kPlane, Picoseconds{}) != uplink(qpn, Picoseconds{})) ++moved;
    }
    return moved;
  };
  const std::uint32_t expected = kFlows - kFlows / kUplinks;
  EXPECT_NEAR(places([](EcmpFlow& other) { other.from = HostIndex(2); }), expected, 40);
  EXPECT_NEAR(places([](EcmpFlow& other) { other.to = HostIndex(10); }), expected, 40);
  EXPECT_NEAR(places([](EcmpFlow& other) { other.qpn = Qpn(other.qpn.raw() + 1); }), expected, 40);
  EXPECT_EQ(places([](EcmpFlow&) {}), 0u);
}

TEST_F(EcmpTest, TheSeedCounts) {
  const auto before = spread(Picoseconds{});
  scenario_.seed = 2;
  ecmp_.reset();
  EXPECT_NE(spread(Picoseconds{}), before);
}

TEST_F(EcmpTest, LeavesDeadLinksAfterAWhileAndComesBack) {
  for (const std::uint32_t rack : {0u, 2u}) {
    for (const Direction direction : {Direction::kUpward, Direction::kDownward}) {
      scenario_.faults.clear();
      cut(rack, 3, direction);
      cut(rack, 5, direction);
      ecmp_.reset();
      const auto before = spread(Picoseconds{});
      EXPECT_EQ(spread(kCut + kMillisecond - Picoseconds(1)), before);
      const auto after = spread(kCut + kMillisecond);
      for (std::uint32_t i = 0; i < kUplinks; ++i) {
        if (i == 3 || i == 5) {
          EXPECT_EQ(after[i], 0u);
        } else {
          EXPECT_GT(after[i], before[i]) << "all that are left share the load";
        }
      }
      EXPECT_EQ(spread(kRestored), before);
    }
  }
}

TEST_F(EcmpTest, OnlyFlowsOfTheDeadLinkMove) {
  cut(0, 3);
  for (std::uint32_t qpn = 0; qpn < kFlows; ++qpn) {
    const std::uint32_t before = uplink(qpn, Picoseconds{});
    if (before == 3) continue;
    EXPECT_EQ(uplink(qpn, kCut + kMillisecond), before);
  }
}

TEST_F(EcmpTest, AFaultElsewhereMovesNothing) {
  cut(1, 3);
  scenario_.faults.push_back(scenario_.faults.front());
  scenario_.faults.back().link = {
      .kind = fabric::LinkId::Kind::kUplink, .plane = Plane(0), .rack = 0, .port = 3};
  scenario_.faults.push_back(scenario_.faults.front());
  scenario_.faults.back().link.rack = 0;
  scenario_.faults.back().down = false;
  scenario_.faults.back().loss_per_billion = 1'000'000;
  EXPECT_EQ(spread(kCut + kMillisecond), spread(Picoseconds{}));
}

TEST_F(EcmpTest, StaysWhereItIsWhenNothingIsLeft) {
  for (std::uint32_t i = 0; i < kUplinks; ++i) cut(i % 2 == 0 ? 0 : 2, i);
  EXPECT_EQ(spread(kCut + kMillisecond), spread(Picoseconds{}));
}

TEST_F(EcmpTest, FaultsInARowAddUp) {
  cut(0, 3);
  scenario_.faults.front().to = kCut + kMillisecond / 2;
  cut(0, 3);
  scenario_.faults.back().from = kCut + kMillisecond / 2;
  EXPECT_EQ(spread(kCut + kMillisecond)[3], 0u);
}

TEST_F(EcmpTest, APathFollows) {
  cut(0, 3);
  std::uint32_t moves = 0;
  for (std::uint32_t qpn = 0; qpn < kFlows; ++qpn) {
    EcmpPath path(ecmp(), flow(qpn), kPlane);
    std::uint32_t before = path.number(Picoseconds{});
    for (Picoseconds now{}; now < kRestored * 2; now += kMillisecond / 4) {
      const std::uint32_t here = path.number(now);
      ASSERT_EQ(here, uplink(qpn, now));
      if (here != before) ++moves;
      before = here;
    }
  }
  EXPECT_EQ(moves, 2 * spread(Picoseconds{})[3]);
}

TEST_F(EcmpTest, NeedsNoUplinkInsideARack) {
  const EcmpFlow inside{.from = HostIndex(1), .to = HostIndex(2), .qpn = Qpn(5)};
  EXPECT_EQ(ecmp().path(inside, kPlane, Picoseconds{}), 0);
}

}  // namespace
}  // namespace openmrc::sim
