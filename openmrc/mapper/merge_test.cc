// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/merge.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "openmrc/mapper/test_network.h"

namespace openmrc::mapper {
namespace {

constexpr fabric::Shape kShape{.planes = 2, .racks = 3, .hosts_per_rack = 3, .uplinks = 2};

fabric::LinkId link(const char* name) {
  return *fabric::parse_link(*fabric::Fabric::make(kShape), name);
}

MapReport of_host(std::uint32_t host, std::vector<const char*> bad,
                  Direction direction = Direction::kUp) {
  MapReport report{
      .host = "h" + std::to_string(host), .index = fabric::HostIndex(host), .shape = kShape};
  for (const char* name : bad) {
    report.bad.push_back({.link = link(name),
                          .direction = direction,
                          .loss = 0.5,
                          .seen = {.sent = 20, .lost = 10},
                          .age = seconds(host + 1)});
  }
  return report;
}

// "p0.t0-0/up1 2/3", as the table shows it.
std::vector<std::string> names(const std::vector<MapReport>& reports) {
  std::vector<std::string> all;
  for (const Finding& each : merge(reports).findings) {
    all.push_back(name_of(each.element) + " " + std::to_string(each.found_by) + "/" +
                  std::to_string(each.asked));
  }
  return all;
}

using Names = std::vector<std::string>;

TEST(Merge, SumsWhatAgentsSayOfALink) {
  const std::vector reports{of_host(0, {"p0.t0-0/up1"}), of_host(1, {"p0.t0-0/up1"}),
                            of_host(2, {}), of_host(3, {})};
  EXPECT_EQ(names(reports), (Names{"p0.t0-0/up1 2/3"}));
  const Finding finding = merge(reports).findings.at(0);
  EXPECT_EQ(finding.seen, (Tally{.sent = 40, .lost = 20}));
  EXPECT_DOUBLE_EQ(finding.loss, 0.5);
  EXPECT_EQ(finding.age, seconds(2));
  EXPECT_EQ(finding.direction, Direction::kUp);
}

// One that is wrong, for a reason of its own, does not accuse an uplink that others see too.
TEST(Merge, WantsHalfOfThoseThatSeeAnUplink) {
  const char* uplink = "p0.t0-0/up1";
  EXPECT_EQ(names({of_host(0, {uplink}), of_host(1, {}), of_host(2, {})}), (Names{}));
  EXPECT_EQ(names({of_host(0, {uplink}), of_host(1, {uplink}), of_host(2, {})}),
            (Names{"p0.t0-0/up1 2/3"}));
  EXPECT_EQ(names({of_host(0, {uplink}), of_host(1, {})}), (Names{"p0.t0-0/up1 1/2"}));
  EXPECT_EQ(names({of_host(0, {uplink}), of_host(3, {}), of_host(4, {})}),
            (Names{"p0.t0-0/up1 1/1"}));
  EXPECT_EQ(names({of_host(0, {"h0/p1"}), of_host(1, {}), of_host(2, {})}),
            (Names{"p1.t0-0/down0 1/1"}));
  // Nor is a T1 bad because one host of each rack says so.
  EXPECT_EQ(names({of_host(0, {uplink}), of_host(1, {}), of_host(2, {}),
                   of_host(3, {"p0.t0-1/up1"}), of_host(4, {}), of_host(5, {})}),
            (Names{}));
}

TEST(Merge, NamesTheT1IfAllRacksLoseIt) {
  EXPECT_EQ(names({of_host(0, {"p1.t0-0/up0"}), of_host(3, {"p1.t0-1/up0"}),
                   of_host(6, {"p1.t0-2/up0"})}),
            (Names{"p1.t1-0 3/3"}));
  EXPECT_EQ(names({of_host(0, {"p1.t0-0/up0"}), of_host(3, {"p1.t0-1/up0"}), of_host(6, {})}),
            (Names{"p1.t0-0/up0 1/1", "p1.t0-1/up0 1/1"}));
  EXPECT_EQ(names({of_host(0, {"p1.t0-0/up0"})}), (Names{"p1.t0-0/up0 1/1"}));
}

TEST(Merge, NamesTheT0IfAllItsHostsLoseIt) {
  EXPECT_EQ(names({of_host(0, {"h0/p1"}), of_host(1, {"h1/p1"}), of_host(3, {})}),
            (Names{"p1.t0-0 2/2"}));
  EXPECT_EQ(names({of_host(0, {"h0/p1"}), of_host(1, {})}), (Names{"p1.t0-0/down0 1/1"}));
  EXPECT_EQ(names({of_host(0, {"h0/p1"})}), (Names{"p1.t0-0/down0 1/1"}));
}

TEST(Merge, DoesNotAskAgentsWithoutALinkOfTheirOwn) {
  EXPECT_EQ(names({of_host(0, {"h0/p0"}), of_host(1, {"p0.t0-0/up0"}), of_host(2, {})}),
            (Names{"p0.t0-0/down0 1/1", "p0.t0-0/up0 1/2"}));
}

TEST(Merge, TakesDirectionsOfThoseThatKnow) {
  const auto direction = [](Direction a, Direction b, Direction c) {
    return merge(std::vector{of_host(0, {"p0.t0-0/up1"}, a), of_host(1, {"p0.t0-0/up1"}, b),
                             of_host(2, {"p0.t0-0/up1"}, c)})
        .findings.at(0)
        .direction;
  };
  using enum Direction;
  EXPECT_EQ(direction(kUnknown, kDown, kUnknown), kDown);
  EXPECT_EQ(direction(kUp, kUp, kDown), kUp);
  EXPECT_EQ(direction(kUp, kDown, kUnknown), kBoth);
  EXPECT_EQ(direction(kUnknown, kUnknown, kUnknown), kUnknown);
}

TEST(Merge, LeavesOutWhoSpeaksOfAnotherFabric) {
  MapReport other = of_host(1, {"p0.t0-0/up1"});
  other.shape.planes = 4;
  const MergedMap merged = merge(std::vector{of_host(0, {}), other});
  EXPECT_TRUE(merged.findings.empty());
  EXPECT_EQ(merged.left_out, (Names{"h1"}));
  EXPECT_TRUE(merge({}).findings.empty());
}

TEST(Merge, NamesSlowLinksIfMostAgentsDo) {
  const auto slow = [](std::uint32_t host, const char* name, Duration delay) {
    MapReport report = of_host(host, {});
    report.slow = {{.link = link(name), .delay = delay}};
    return report;
  };
  const char* uplink = "p0.t0-0/up1";
  const std::vector some{slow(0, uplink, milliseconds(1)), of_host(1, {}), of_host(2, {})};
  EXPECT_EQ(names(some), (Names{}));
  const std::vector most{slow(0, uplink, milliseconds(1)), slow(1, uplink, milliseconds(2)),
                         of_host(2, {})};
  EXPECT_EQ(names(most), (Names{"p0.t0-0/up1 2/3"}));
  EXPECT_EQ(merge(most).findings[0].delay, milliseconds(2));
  EXPECT_EQ(names({slow(1, "h1/p1", milliseconds(1)), of_host(0, {})}),
            (Names{"p1.t0-0/down1 1/1"}));
  EXPECT_EQ(names({slow(0, uplink, milliseconds(1)), of_host(0, {uplink})}),
            (Names{"p0.t0-0/up1 1/1"}));
}

}  // namespace
}  // namespace openmrc::mapper
