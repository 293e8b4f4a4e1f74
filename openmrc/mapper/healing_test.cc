// SPDX-License-Identifier: BSD-3-Clause
// A link that is bad, and good again, while all links are full and lose some probes: what `mrc map`
// makes of what the agents of its rack say.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/fabric/names.h"
#include "openmrc/mapper/merge.h"
#include "openmrc/mapper/report.h"
#include "openmrc/mapper/test_network.h"

namespace openmrc::mapper {
namespace {

using fabric::LinkId;
using test::Rig;

// As the lab under load.
constexpr fabric::Shape kShape{.planes = 4, .racks = 2, .hosts_per_rack = 4, .uplinks = 2};
constexpr LinkId kLink{LinkId::Kind::kUplink, Plane(1), 0, 0};
constexpr Duration kStep = milliseconds(200);
// Queues are full for a part of the time, and lose more then.
constexpr std::uint64_t kFullOneIn = 10;

// The agents of the first rack.
class RackOfAgents {
 public:
  // What each uplink loses in each direction, of a million.
  explicit RackOfAgents(std::uint64_t everywhere) : everywhere_(everywhere) {
    for (std::uint32_t i = 0; i < kShape.hosts_per_rack; ++i) rigs_.emplace_back(kShape, 7 + i, i);
  }

  void break_link(std::uint64_t per_million) { bad_ = per_million; }

  // Whether the link was named all the time.
  bool is_named_for(Duration span) {
    for (Duration passed{}; passed < span; passed += kStep) {
      step();
      if (!is_named()) return false;
    }
    return true;
  }

  // How long it took until nothing was named.
  Duration heal(Duration most) {
    bad_ = 0;
    for (Duration passed{}; passed < most; passed += kStep) {
      if (!is_named()) return passed;
      step();
    }
    return most;
  }

  void run(Duration span) {
    for (Duration passed{}; passed < span; passed += kStep) step();
  }

 private:
  [[nodiscard]] bool is_named() const {
    std::vector<MapReport> reports;
    for (const Rig& rig : rigs_) reports.push_back(report_of(rig.mapper, "", 0, rig.now));
    const auto findings = merge(reports).findings;
    return std::ranges::count(findings, fabric::Element(kLink), &Finding::element) > 0;
  }

  void step() {
    std::map<test::Way, std::uint64_t> losses{{{kLink, true}, bad_}, {{kLink, false}, bad_}};
    for (std::uint32_t i = 0; i < kShape.planes * kShape.racks * kShape.uplinks; ++i) {
      const LinkId link{LinkId::Kind::kUplink, Plane(static_cast<std::uint8_t>(i % kShape.planes)),
                        i / kShape.planes % kShape.racks, i / kShape.planes / kShape.racks};
      for (const bool up : {true, false}) {
        if (rng_.below(kFullOneIn) == 0) losses[{link, up}] += everywhere_ * kFullOneIn;
      }
    }
    for (Rig& rig : rigs_) {
      rig.network.losses = losses;
      rig.run(kStep);
    }
  }

  std::uint64_t everywhere_;
  std::uint64_t bad_ = 0;
  Rng rng_{5};
  std::deque<Rig> rigs_;
};

struct HealingCase {
  std::uint64_t everywhere;
  std::uint64_t bad;
  Duration healed_in;
};

class Healing : public ::testing::TestWithParam<HealingCase> {};

TEST_P(Healing, IsSeenWhileAllLinksLoseSome) {
  const HealingCase& given = GetParam();
  RackOfAgents rack(given.everywhere);
  rack.run(seconds(5));
  rack.break_link(given.bad);
  rack.run(seconds(15));
  EXPECT_TRUE(rack.is_named_for(seconds(25)));
  EXPECT_LE(rack.heal(seconds(60)), given.healed_in);
}

INSTANTIATE_TEST_SUITE_P(Links, Healing,
                         ::testing::Values(HealingCase{0, 1'000'000, seconds(7)},
                                           HealingCase{0, 10'000, seconds(10)},
                                           HealingCase{500, 10'000, seconds(15)},
                                           HealingCase{5'000, 50'000, seconds(20)},
                                           HealingCase{20'000, 200'000, seconds(20)}));

TEST(Healing, LessLossIsNoneYet) {
  RackOfAgents rack(500);
  rack.break_link(1'000'000);
  rack.run(seconds(20));
  rack.break_link(50'000);
  EXPECT_TRUE(rack.is_named_for(seconds(40)));
}

}  // namespace
}  // namespace openmrc::mapper
