// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/scenario_faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace openmrc::sim {
namespace {

using fabric::Element;
using fabric::Fabric;
using fabric::LinkId;
using fabric::SwitchId;
using fabric::Tier;
using enum ElementGroup;

constexpr Picoseconds kSoon{1'000};
constexpr Picoseconds kLater{2'000};

class ScenarioFaults : public testing::Test {
 protected:
  [[nodiscard]] Element element(std::string_view name) const {
    return *fabric::parse_element(fabric_, name);
  }
  [[nodiscard]] std::size_t links(std::string_view name) const {
    const auto all = links_of(element(name), fabric_);
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
    return all.size();
  }
  bool expand(const std::vector<BrokenElement>& broken, const Breakage& breakage) {
    return expand_fault(broken, breakage, fabric_, faults_, notes_);
  }

  Fabric fabric_ = *Fabric::make({.planes = 4, .racks = 6, .hosts_per_rack = 8, .uplinks = 5});
  std::vector<LinkFault> faults_;
  std::vector<FaultNote> notes_;
};

TEST_F(ScenarioFaults, LinksOfEachThing) {
  EXPECT_EQ(links("p1.t0-2/up3"), 1U);
  EXPECT_EQ(links("h9/p1"), 1U);
  EXPECT_EQ(links("h9"), 4U);
  EXPECT_EQ(links("p1.t0-2"), 8U + 5);
  EXPECT_EQ(links("p1.t1-4"), 6U);
  EXPECT_EQ(links("p1"), 6U * (8 + 5));
}

TEST_F(ScenarioFaults, LinksOfAT1AreThoseThatLeadToIt) {
  for (const LinkId& link : links_of(element("p1.t1-4"), fabric_)) {
    EXPECT_EQ(link.kind, LinkId::Kind::kUplink);
    EXPECT_EQ(link.plane, Plane(1));
    EXPECT_EQ(link.port, 4U);
  }
}

TEST_F(ScenarioFaults, LinksOfAT1AreAllThatEachRackHasToIt) {
  fabric_ = *Fabric::make(
      {.planes = 4, .racks = 6, .hosts_per_rack = 8, .uplinks = 6, .links_per_t1 = 3});
  EXPECT_EQ(all_of(kT1s, fabric_).size(), 4U * 2);
  EXPECT_EQ(links("p1.t1-1"), 6U * 3);
  for (const LinkId& link : links_of(element("p1.t1-1"), fabric_)) EXPECT_GE(link.port, 3U);
  EXPECT_EQ(element("p1.t1-1/down7"), Element(LinkId{LinkId::Kind::kUplink, Plane(1), 2, 4}));
}

TEST_F(ScenarioFaults, LinksOfThreeTiers) {
  fabric_ = *Fabric::make(
      {.planes = 4, .racks = 6, .hosts_per_rack = 8, .uplinks = 2, .pods = 3, .t1_uplinks = 4});
  EXPECT_EQ(links("p1.t1-5"), 2U + 4) << "down and up";
  EXPECT_EQ(links("p1.t2-7"), 3U) << "one to each pod";
  EXPECT_EQ(links("p1"), 6U * (8 + 2) + 6 * 4);
  for (const LinkId& link : links_of(element("p1.t2-7"), fabric_)) {
    EXPECT_EQ(link.kind, LinkId::Kind::kT1Uplink);
    EXPECT_EQ(link.port, 3U);
  }
  for (const auto& [group, size] : {std::pair{kT1Uplinks, 4 * 6 * 4}, {kT2s, 4 * 8}}) {
    const auto all = all_of(group, fabric_);
    EXPECT_EQ(all.size(), static_cast<std::size_t>(size));
    for (const Element& one : all) EXPECT_EQ(element(name_of(one)), one);
  }
}

TEST_F(ScenarioFaults, GroupsHoldEveryElementOnce) {
  for (const auto& [group, size] :
       {std::pair{kUplinks, 4 * 6 * 5}, {kHostLinks, 4 * 6 * 8}, {kT0s, 4 * 6}, {kT1s, 4 * 5}}) {
    const auto all = all_of(group, fabric_);
    EXPECT_EQ(all.size(), static_cast<std::size_t>(size));
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
    for (const Element& one : all) EXPECT_EQ(element(name_of(one)), one);
  }
}

TEST_F(ScenarioFaults, DrawsDifferentOnes) {
  Rng rng(3);
  const auto some = draw(kUplinks, 20, rng, fabric_);
  EXPECT_EQ(std::set(some.begin(), some.end()).size(), 20U);
  EXPECT_FALSE(std::ranges::is_sorted(some));
  auto all = draw(kT1s, 20, rng, fabric_);
  std::ranges::sort(all);
  EXPECT_EQ(all, all_of(kT1s, fabric_));
  Rng again(3);
  EXPECT_EQ(draw(kUplinks, 20, again, fabric_), some);
}

TEST_F(ScenarioFaults, DrawsEachAsOften) {
  std::map<Element, int> drawn;
  Rng rng(1);
  for (int i = 0; i < 2'000; ++i) ++drawn[draw(kT1s, 3, rng, fabric_).at(2)];
  EXPECT_EQ(drawn.size(), 20U);
  for (const auto& [one, times] : drawn) EXPECT_NEAR(times, 100, 40);
}

TEST_F(ScenarioFaults, T0DeathIsSeenByTheNics) {
  EXPECT_TRUE(
      expand({{.element = element("p1.t0-2"), .from = kSoon, .to = kLater}}, {.down = true}));
  ASSERT_EQ(faults_.size(), 13U);
  for (const LinkFault& fault : faults_) {
    EXPECT_TRUE(fault.down);
    EXPECT_EQ(fault.direction, Direction::kBoth);
    EXPECT_EQ(fault.from, kSoon);
    EXPECT_EQ(fault.to, kLater);
    EXPECT_EQ(fault.seen_by_nic, fault.link.kind == LinkId::Kind::kHost);
  }
  EXPECT_EQ(notes_,
            (std::vector<FaultNote>{{.from = kSoon, .to = kLater, .text = "p1.t0-2 down"}}));
}

TEST_F(ScenarioFaults, CanBeHiddenFromTheNic) {
  expand({{.element = element("h9/p1")}}, {.down = true, .seen_by_nic = false});
  ASSERT_EQ(faults_.size(), 1U);
  EXPECT_FALSE(faults_[0].seen_by_nic);
}

TEST_F(ScenarioFaults, LossIsNotSeen) {
  expand({{.element = element("h9/p1")}},
         {.loss_per_billion = 1'000'000, .direction = Direction::kDownward});
  ASSERT_EQ(faults_.size(), 1U);
  EXPECT_FALSE(faults_[0].seen_by_nic);
  EXPECT_EQ(faults_[0].loss_per_billion, 1'000'000U);
  EXPECT_EQ(faults_[0].direction, Direction::kDownward);
  EXPECT_EQ(notes_.at(0).text, "h9/p1 losing 0.1 % downward");
}

TEST_F(ScenarioFaults, AWrongMtuIsNotSeen) {
  expand({{.element = element("h9/p1")}}, {.mtu = 1600});
  ASSERT_EQ(faults_.size(), 1U);
  EXPECT_FALSE(faults_[0].down);
  EXPECT_EQ(faults_[0].mtu, 1600);
  EXPECT_EQ(notes_.at(0).text, "h9/p1 with an MTU of 1600 bytes");
}

TEST_F(ScenarioFaults, NotesNameWhatIsFewAndCountWhatIsMany) {
  std::vector<BrokenElement> broken;
  for (const auto* name : {"p1.t0-2/up3", "p0.t0-2/up1", "h3/p2"}) {
    broken.push_back({.element = element(name)});
  }
  expand(broken, {.speed_percent = 25});
  EXPECT_EQ(notes_.back().text, "p1.t0-2/up3, p0.t0-2/up1, h3/p2 at 25 %");
  broken.push_back({.element = element("p0.t0-3/up1")});
  expand(broken, {.down = true, .direction = Direction::kUpward});
  EXPECT_EQ(notes_.back().text, "4 parts down upward");
  for (BrokenElement& one : broken) one.element = element("p0.t0-3/up1");
  expand(broken, {.down = true});
  EXPECT_EQ(notes_.back().text, "4 uplinks down");
}

TEST_F(ScenarioFaults, OneNoteForEachStretchOfTimeAndNotTooMany) {
  std::vector<BrokenElement> broken;
  for (std::int64_t i = 0; i < 60; ++i) {
    broken.push_back({.element = element("p1.t1-0"), .from = Picoseconds(i)});
    broken.push_back({.element = element("p1.t1-1"), .from = Picoseconds(i)});
  }
  expand(broken, {.down = true});
  EXPECT_EQ(notes_.size(), kNotesMax);
  EXPECT_EQ(notes_[7].text, "p1.t1-0, p1.t1-1 down");
  EXPECT_EQ(notes_[7].from, Picoseconds(7));
  EXPECT_EQ(faults_.size(), 120U * 6);
}

TEST_F(ScenarioFaults, StopsAtTooMany) {
  faults_.resize(kLinkFaultsMax);
  EXPECT_FALSE(
      expand({{.element = element("h9/p1")}, {.element = element("h9/p2")}}, {.down = true}));
  EXPECT_EQ(faults_.size(), kLinkFaultsMax + 1);
}

}  // namespace
}  // namespace openmrc::sim
