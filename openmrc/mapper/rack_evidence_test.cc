// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/rack_evidence.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "openmrc/fabric/names.h"
#include "openmrc/mapper/merge.h"

namespace openmrc::mapper {
namespace {

constexpr fabric::Shape kShape{.planes = 8, .racks = 512, .hosts_per_rack = 256, .uplinks = 256};
constexpr std::uint64_t kRounds = 1'000;  // 100 a second, for ten seconds
// Of kRecentSpans.
constexpr std::size_t k3s = 0;
constexpr std::size_t k30s = 2;
constexpr std::size_t k100s = 3;

fabric::LinkId uplink(std::uint32_t port) {
  return {.kind = fabric::LinkId::Kind::kUplink, .rack = 0, .port = port};
}

// As many agents of the first rack, with as many rounds as a span has from its beginning on.
class Rack {
 public:
  explicit Rack(std::uint32_t agents = 256) {
    for (std::uint32_t i = 0; i < agents; ++i) {
      reports_.push_back({.index = fabric::HostIndex(i),
                          .shape = kShape,
                          .recent_rounds = {kRounds * 3 / 10, kRounds, kRounds * 3, kRounds * 10,
                                            kRounds * 100, kRounds * 1'000}});
    }
  }

  // In the spans from this one on.
  void lose(std::uint32_t agent, std::uint32_t port, std::uint64_t lost, std::size_t span = k3s,
            std::uint64_t up = 0) {
    LinkTally& link = reports_[agent].links.emplace_back();
    link.link = uplink(port);
    for (std::size_t i = span; i < kRecentSpans.size(); ++i) {
      link.recent.both[i] = lost;
      link.recent.up[i] = up;
    }
  }
  void name(std::uint32_t agent, const fabric::LinkId& link) {
    reports_[agent].bad.push_back({.link = link, .loss = 1});
  }

  [[nodiscard]] std::vector<Finding> findings() const { return merge(reports_).findings; }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Finding& each : findings()) all.push_back(name_of(each.element));
    return all;
  }

 private:
  std::vector<MapReport> reports_;
};

using Names = std::vector<std::string>;

TEST(RackEvidence, NamesWhatNoAgentIsSureOf) {
  Rack rack;
  for (std::uint32_t i = 0; i < 8; ++i) rack.lose(10 * i, 17, 1, k100s);
  ASSERT_EQ(rack.names(), (Names{"p0.t0-0/up17"}));
  const Finding found = rack.findings().at(0);
  EXPECT_TRUE(found.by_rack);
  EXPECT_EQ(found.found_by, 8u);
  EXPECT_EQ(found.asked, 256u);
  EXPECT_EQ(found.seen, (Tally{.sent = 10 * kRounds, .lost = 8}));
  EXPECT_DOUBLE_EQ(found.loss, 8.0 / (10 * kRounds));
  EXPECT_EQ(found.age, seconds(100));
  EXPECT_EQ(found.direction, Direction::kUnknown);
}

// As where all uplinks are full: no two of them lose the same.
TEST(RackEvidence, LossesOfFullQueuesNeedNotBeEven) {
  const auto named = [](std::uint64_t lost) {
    Rack rack;
    for (std::uint32_t agent = 0; agent < 8; ++agent) {
      for (std::uint32_t port = 0; port < kShape.uplinks; ++port) {
        rack.lose(agent, port, port == 17 ? lost : 5 + port % 4);
      }
    }
    return rack.names();
  };
  EXPECT_EQ(named(15), (Names{}));
  EXPECT_EQ(named(40), (Names{"p0.t0-0/up17"}));
}

TEST(RackEvidence, WantsMoreThanAFewLosses) {
  Rack rack;
  for (std::uint32_t i = 0; i < 5; ++i) rack.lose(10 * i, 17, 1, k100s);
  EXPECT_EQ(rack.names(), (Names{}));
}

TEST(RackEvidence, WantsMoreThanTwoAgents) {
  Rack rack;
  rack.lose(3, 17, 20);
  rack.lose(4, 17, 20);
  EXPECT_EQ(rack.names(), (Names{}));
  EXPECT_EQ(Rack(1).names(), (Names{}));
}

TEST(RackEvidence, LossThatIsEvenAccusesNobody) {
  Rack rack;
  for (std::uint32_t port = 0; port < 256; ++port) {
    for (std::uint32_t i = 0; i < 5 + port % 3; ++i) rack.lose((port + i) % 256, port, 1, k100s);
  }
  EXPECT_EQ(rack.names(), (Names{}));
  for (std::uint32_t i = 0; i < 40; ++i) rack.lose(i, 17, 1, i % 3 == 0 ? k30s : k100s);
  EXPECT_EQ(rack.names(), (Names{"p0.t0-0/up17"}));
}

// What is known to be bad, and those that have no link of their own, do not hide another link.
TEST(RackEvidence, LinksThatLoseMoreDoNotHideOthers) {
  Rack rack;
  for (std::uint32_t i = 0; i < 200; ++i) rack.lose(i, 3, 2);
  for (std::uint32_t i = 0; i < 8; ++i) rack.lose(20 * i, 17, 1, k100s);
  EXPECT_EQ(rack.names(), (Names{"p0.t0-0/up3", "p0.t0-0/up17"}));
  rack.name(5, uplink(3));
  rack.name(6, {.kind = fabric::LinkId::Kind::kHost, .rack = 0, .port = 6});
  for (std::uint32_t port = 0; port < 256; ++port) rack.lose(6, port, 50);
  EXPECT_EQ(rack.names(), (Names{"p0.t0-0/down6", "p0.t0-0/up3", "p0.t0-0/up17"}));
}

TEST(RackEvidence, IsAskedAlsoOfWhatFewAgentsHaveNamed) {
  Rack rack;
  rack.name(5, uplink(17));
  EXPECT_EQ(rack.names(), (Names{}));
  for (std::uint32_t i = 0; i < 8; ++i) rack.lose(10 * i, 17, 1, k100s);
  ASSERT_EQ(rack.names(), (Names{"p0.t0-0/up17"}));
  EXPECT_TRUE(rack.findings().at(0).by_rack);
}

TEST(RackEvidence, EndsWhenALinkHasHealed) {
  Rack rack;
  for (std::uint32_t i = 0; i < 256; ++i) rack.lose(i, 17, 2, k100s);  // none lately
  EXPECT_EQ(rack.names(), (Names{}));
  for (std::uint32_t i = 0; i < 80; ++i) rack.lose(i, 17, 1, k3s);
  EXPECT_EQ(rack.names(), (Names{"p0.t0-0/up17"}));
}

// Every link loses one packet of 500, as under load; one of them had lost many more.
TEST(RackEvidence, EndsWhenALinkThatLosesALittleHasHealed) {
  Rack rack;
  for (std::uint32_t port = 0; port < 256; ++port) {
    for (std::uint32_t i = 0; i < 20; ++i) {
      rack.lose((port + i) % 256, port, i < 2 ? 1 : 0, k3s);
      rack.lose((port + i) % 256, port, i < 2 ? 0 : 1, k100s);
    }
  }
  EXPECT_EQ(rack.names(), (Names{}));
  for (std::uint32_t i = 0; i < 200; ++i) rack.lose(i, 17, 1, k100s);
  EXPECT_EQ(rack.names(), (Names{}));
  for (std::uint32_t i = 0; i < 20; ++i) rack.lose(i, 17, 1, k3s);  // it goes on
  EXPECT_EQ(rack.names(), (Names{"p0.t0-0/up17"}));
}

// From all packets to a tenth of them.
TEST(RackEvidence, WhatLosesLessThanBeforeIsNotGoodYet) {
  Rack rack;
  for (std::uint32_t i = 0; i < 256; ++i) rack.lose(i, 17, 36, k100s);
  for (std::uint32_t i = 0; i < 30; ++i) rack.lose(i, 17, 1, k3s);
  EXPECT_EQ(rack.names(), (Names{"p0.t0-0/up17"}));
}

TEST(RackEvidence, SaysTheDirectionIfItIsSure) {
  Rack rack;
  for (std::uint32_t i = 0; i < 12; ++i) rack.lose(10 * i, 17, 1, k3s, 1);
  EXPECT_EQ(rack.findings().at(0).direction, Direction::kUp);
  // Also of a link that agents have named without it.
  for (std::uint32_t i = 0; i < 128; ++i) rack.name(i, uplink(17));
  ASSERT_EQ(rack.findings().size(), 1u);
  EXPECT_FALSE(rack.findings().at(0).by_rack);
  EXPECT_EQ(rack.findings().at(0).direction, Direction::kUp);
}

// As in a lab: what comes down one of two uplinks went up the other.
TEST(RackEvidence, SaysTheDirectionWhereThereAreTwoUplinks) {
  const fabric::Shape shape{.planes = 4, .racks = 2, .hosts_per_rack = 4, .uplinks = 2};
  const auto direction = [&](std::uint64_t up, std::uint64_t down) {
    std::vector<MapReport> reports;
    for (std::uint32_t i = 0; i < 4; ++i) {
      MapReport& report = reports.emplace_back();
      report.index = fabric::HostIndex(i);
      report.shape = shape;
      report.recent_rounds.fill(9'650);
      report.links.resize(2);
      LinkTally& bad = report.links[0];
      LinkTally& other = report.links[1];
      bad.link = uplink(1);
      other.link = uplink(0);
      bad.recent.both.fill(up + down);
      bad.recent.up.fill(up);
      bad.recent.down.fill(down);
      other.recent.up.fill(down);
      other.recent.down.fill(up);
    }
    return merge(reports).findings.at(0).direction;
  };
  EXPECT_EQ(direction(6, 5), Direction::kBoth);
  EXPECT_EQ(direction(11, 0), Direction::kUp);
  EXPECT_EQ(direction(0, 11), Direction::kDown);
}

}  // namespace
}  // namespace openmrc::mapper
