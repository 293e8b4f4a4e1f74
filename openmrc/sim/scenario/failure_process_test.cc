// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/failure_process.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "openmrc/sim/scenario/faults_text.h"
#include "openmrc/sim/scenario/test_scenario.h"

namespace openmrc::sim {
namespace {

using fabric::Element;
using fabric::Fabric;
using fabric::LinkId;
using enum FailingPart;

constexpr Picoseconds milliseconds(std::int64_t n) { return Picoseconds(n * 1'000'000'000); }

class FailureProcessTest : public testing::Test {
 protected:
  std::vector<LinkFault> sample(const FailureProcess& process, std::uint64_t seed = 1) {
    std::vector<LinkFault> faults;
    notes_.clear();
    EXPECT_TRUE(sample_failures(process, fabric_, Rng(seed), faults, notes_));
    return faults;
  }
  [[nodiscard]] std::vector<std::string> names(const FailureProcess& process,
                                               std::uint64_t index) const {
    std::vector<std::string> names;
    for (const Element& one : failing_part(process, index, fabric_)) names.push_back(name_of(one));
    return names;
  }

  Fabric fabric_ = *Fabric::make({.planes = 4, .racks = 6, .hosts_per_rack = 8, .uplinks = 5});
  // Of 120 uplinks, for 100 times the mean.
  FailureProcess uplinks_{.part = kUplinks,
                          .until = milliseconds(100),
                          .mtbf = milliseconds(9),
                          .mttr = milliseconds(1),
                          .breakage = {.down = true}};
  std::vector<FaultNote> notes_;
};

// A cycle takes 10 ms on average, so each of 120 links fails about 10 times in 100 ms (a little
// more, because all begin whole), and is down for a tenth of the time.
TEST_F(FailureProcessTest, FailuresAndTimeDownAreWhatTheRatesSay) {
  double failures = 0;
  double down = 0;
  constexpr int kSeeds = 20;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const LinkFault& fault : sample(uplinks_, seed)) {
      ++failures;
      down += number(std::min(fault.to, uplinks_.until) - fault.from);
    }
  }
  EXPECT_NEAR(failures / kSeeds / 120, 10, 0.3);
  EXPECT_NEAR(down / kSeeds / 120 / number(uplinks_.until), 0.1, 0.005);
}

TEST_F(FailureProcessTest, RepairTimesAreAsDistributed) {
  const auto spread = [&](RepairTime repair, std::uint32_t sigma_percent) {
    uplinks_.repair = repair;
    uplinks_.sigma_percent = sigma_percent;
    const auto faults = sample(uplinks_);
    double sum = 0;
    double below_half = 0;
    for (const LinkFault& fault : faults) {
      sum += number(fault.to - fault.from);
      if (fault.to - fault.from < milliseconds(1) / 2) ++below_half;
    }
    const auto count = static_cast<double>(faults.size());
    EXPECT_NEAR(sum / count, number(milliseconds(1)), number(milliseconds(1)) * 0.12);
    return below_half / count;
  };
  EXPECT_EQ(spread(RepairTime::kFixed, 100), 0);
  EXPECT_NEAR(spread(RepairTime::kExponential, 100), 0.393, 0.05);  // 1 - exp(-1/2)
  EXPECT_NEAR(spread(RepairTime::kLognormal, 50), 0.128, 0.05);     // of its normal: below -1.136
}

TEST_F(FailureProcessTest, OnePartFailsAndIsRepairedInTurn) {
  std::map<LinkId, std::vector<LinkFault>> by_link;
  for (const LinkFault& fault : sample(uplinks_)) by_link[fault.link].push_back(fault);
  EXPECT_GT(by_link.size(), 115U);
  for (const auto& [link, faults] : by_link) {
    for (std::size_t i = 0; i < faults.size(); ++i) {
      EXPECT_LT(faults[i].from, faults[i].to);
      EXPECT_LT(faults[i].from, uplinks_.until);
      EXPECT_TRUE(i == 0 || faults[i].from > faults[i - 1].to);
    }
  }
}

TEST_F(FailureProcessTest, ASeedGivesTheSameFaultsAndAnotherOneOthers) {
  EXPECT_EQ(sample(uplinks_, 3), sample(uplinks_, 3));
  EXPECT_NE(sample(uplinks_, 3), sample(uplinks_, 4));
}

// The first links of a larger fabric fail at the times at which they fail in a smaller one.
TEST_F(FailureProcessTest, APartFailsAtItsOwnTimes) {
  uplinks_.part = kT0s;
  const auto first_of = [](const std::vector<LinkFault>& faults) {
    std::set<Picoseconds> times;
    for (const LinkFault& fault : faults) {
      if (fault.link.plane == Plane(0) && fault.link.rack == 0) times.insert(fault.from);
    }
    return times;
  };
  const auto small = first_of(sample(uplinks_));
  fabric_ = *Fabric::make({.planes = 8, .racks = 9, .hosts_per_rack = 3, .uplinks = 4});
  EXPECT_FALSE(small.empty());
  EXPECT_EQ(first_of(sample(uplinks_)), small);
}

TEST_F(FailureProcessTest, TransceiversHoldNeighboursAndEveryLinkOnce) {
  using Names = std::vector<std::string>;
  const FailureProcess up{.part = kUplinkTransceivers, .links = 2};
  EXPECT_EQ(count_of(up, fabric_), 4U * 6 * 3);  // 2, 2 and 1 of 5 uplinks
  EXPECT_EQ(names(up, 1), (Names{"p0.t0-0/up2", "p0.t0-0/up3"}));
  EXPECT_EQ(names(up, 2), (Names{"p0.t0-0/up4"}));
  const FailureProcess down{.part = kDownlinkTransceivers, .links = 4};
  EXPECT_EQ(count_of(down, fabric_), 4U * 6 * 2);
  EXPECT_EQ(names(down, 3),
            (Names{"p0.t0-1/down4", "p0.t0-1/down5", "p0.t0-1/down6", "p0.t0-1/down7"}));
  const FailureProcess nic{.part = kNicTransceivers, .links = 2};
  EXPECT_EQ(count_of(nic, fabric_), 48U * 2);
  EXPECT_EQ(names(nic, 2 * 9 + 1), (Names{"p2.t0-1/down1", "p3.t0-1/down1"}));
  for (const FailureProcess& process : {up, down, nic}) {
    std::multiset<Element> all;
    for (std::uint64_t i = 0; i < count_of(process, fabric_); ++i) {
      for (const Element& one : failing_part(process, i, fabric_)) all.insert(one);
    }
    EXPECT_EQ(all.size(), process.part == kUplinkTransceivers ? 120U : 192U);
    EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
  }
}

TEST_F(FailureProcessTest, ATransceiverTakesAllItsLinksAtOnce) {
  uplinks_.part = kDownlinkTransceivers;
  uplinks_.links = 4;
  std::map<std::tuple<Picoseconds, Plane, std::uint32_t, std::uint32_t>, int> links;
  for (const LinkFault& fault : sample(uplinks_)) {
    EXPECT_TRUE(fault.seen_by_nic);
    ++links[{fault.from, fault.link.plane, fault.link.rack, fault.link.port / 4}];
  }
  EXPECT_GT(links.size(), 300U);
  for (const auto& [failure, count] : links) EXPECT_EQ(count, 4);
  EXPECT_EQ(notes_.size(), kNotesMax);
  EXPECT_EQ(notes_.front().text, "4 host links down");
}

TEST_F(FailureProcessTest, LossesGetWorseStepByStepUntilTheRepair) {
  uplinks_.breakage = {.loss_per_billion = 1'000'000};
  uplinks_.worst_loss_per_billion = 4'000'000;
  uplinks_.steps = 4;
  std::map<LinkId, std::map<Picoseconds, LinkFault>> by_link;
  for (const LinkFault& fault : sample(uplinks_)) {
    EXPECT_FALSE(fault.down);
    by_link[fault.link][fault.from] = fault;
  }
  for (const auto& [link, faults] : by_link) {
    std::uint32_t expected = 1'000'000;
    Picoseconds last{};
    for (const auto& [from, fault] : faults) {
      EXPECT_EQ(fault.loss_per_billion, expected);
      EXPECT_TRUE(expected == 1'000'000 || from == last);
      last = fault.to;
      expected = expected == 4'000'000 ? 1'000'000 : expected + 1'000'000;
    }
  }
}

TEST_F(FailureProcessTest, StopsAtTooMany) {
  uplinks_.part = kDownlinkTransceivers;
  uplinks_.links = 8;
  uplinks_.mtbf = Picoseconds(1);
  uplinks_.mttr = Picoseconds(1);
  uplinks_.until = kNoTime / 4;
  std::vector<LinkFault> faults;
  EXPECT_FALSE(sample_failures(uplinks_, fabric_, Rng(1), faults, notes_));
}

// A scenario with failures, and the same with the list of what they came to.
TEST(Failures, AreFaultsThatCanBeWrittenDown) {
  const std::string base = std::string(kFabric) + std::string(kWorkload);
  const Scenario drawn = scenario_of(base + R"(
[[fault]]
kind = "slow"
random = 2
of = "uplinks"
speed = "30 %"
direction = "up"
[[fault]]
kind = "mtu"
target = "h1/p1"
bytes = 1500
at = "3 us"
for = "1 us"
[[failures]]
of = "nic-transceivers"
links = 2
mtbf = "1 ms"
mttr = "100 us"
until = "5 ms"
seen = false
[[failures]]
of = "uplinks"
kind = "loss"
rate = "0.1 %"
worst_rate = "5 %"
steps = 3
repair = "lognormal"
sigma_percent = 80
from = "1 ms"
until = "3 ms"
mtbf = "1 ms"
mttr = "100 us"
direction = "down"
[[failures]]
of = "t1"
mtbf = "1 ms"
mttr = "100 us"
until = "3 ms"
repair = "fixed"
)");
  EXPECT_GT(drawn.faults.size(), 30U);
  const Scenario written = scenario_of(base + faults_text(drawn.faults));
  EXPECT_EQ(written.faults, drawn.faults);
  EXPECT_EQ(faults_text({}), "");
}

TEST(Failures, EachHasAStreamOfItsOwn) {
  const std::string base = std::string(kFabric) + std::string(kWorkload);
  const std::string one =
      "[[failures]]\nof = \"uplinks\"\nmtbf = \"1 ms\"\nmttr = \"1 ms\"\nuntil = \"9 ms\"\n";
  const auto first = scenario_of(base + one).faults;
  const auto both = scenario_of(base + one + one).faults;
  ASSERT_GT(both.size(), first.size());
  EXPECT_TRUE(std::equal(first.begin(), first.end(), both.begin()));
  EXPECT_NE(both[first.size()].from, both[0].from);
}

TEST(Failures, WhatIsWrongIsNamed) {
  const auto error = [](const std::string& keys) {
    return error_of(std::string(kFabric) + std::string(kWorkload) + "[[failures]]\n" + keys);
  };
  const std::string rest = "mtbf = \"1 ms\"\nmttr = \"1 us\"\nuntil = \"2 ms\"\n";
  EXPECT_NE(error("of = \"uplinks\"\nuntil = 1\n").find("mtbf: "), std::string::npos);
  EXPECT_NE(error("of = \"uplinks\"\nmtbf = \"1 ms\"\nmttr = \"1 us\"\n").find("time_limit"),
            std::string::npos);
  EXPECT_NE(error("of = \"spines\"\n" + rest).find("of: "), std::string::npos);
  EXPECT_NE(error("of = \"t1\"\nlinks = 2\n" + rest).find("links: goes with transceivers"),
            std::string::npos);
  EXPECT_NE(error("of = \"nic-transceivers\"\n" + rest).find("links: "), std::string::npos);
  EXPECT_NE(error("of = \"t1\"\nsigma_percent = 2\n" + rest).find("lognormal"), std::string::npos);
  EXPECT_NE(error("of = \"t1\"\nrate = 0.1\n" + rest).find("rate"), std::string::npos);
  EXPECT_NE(error("of = \"t1\"\nkind = \"loss\"\nrate = 0.1\nworst_rate = 0.01\n" + rest)
                .find("worst_rate: is below rate"),
            std::string::npos);
  EXPECT_NE(error("of = \"t1\"\nkind = \"loss\"\nrate = 0.1\nsteps = 3\n" + rest)
                .find("steps: goes with worst_rate"),
            std::string::npos);
  EXPECT_NE(error("of = \"downlink-transceivers\"\nlinks = 8\nmtbf = \"1 ps\"\nmttr = \"1 ps\"\n"
                  "until = \"1 s\"\n")
                .find("too many links"),
            std::string::npos);
}

}  // namespace
}  // namespace openmrc::sim
