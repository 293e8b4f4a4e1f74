// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "openmrc/base/rng.h"
#include "openmrc/mapper/test_network.h"

namespace openmrc::mapper {
namespace {

using Json = nlohmann::ordered_json;

MapReport found_by_a_mapper() {
  test::Rig rig;
  rig.network.losses[{rig.link("p2.t0-0/up1"), true}] = test::kMillion;
  rig.network.delays[{rig.link("p1.t0-0/up1"), true}] = milliseconds(1);
  rig.run(seconds(8));
  return report_of(rig.mapper, "h0", 5, rig.now);
}

TEST(MapReport, ComesBackFromItsPage) {
  const MapReport report = found_by_a_mapper();
  const auto back = parse_report(to_json(report));
  ASSERT_TRUE(back) << back.error();
  EXPECT_EQ(back->host, "h0");
  EXPECT_EQ(back->shape, report.shape);
  EXPECT_EQ(back->counters.replied, report.counters.replied);
  EXPECT_EQ(back->send_failures, 5u);
  ASSERT_EQ(back->bad.size(), 1u);
  EXPECT_EQ(back->bad[0].link, report.bad[0].link);
  EXPECT_EQ(back->bad[0].direction, Direction::kUp);
  EXPECT_EQ(back->bad[0].seen, report.bad[0].seen);
  EXPECT_NEAR(static_cast<double>(back->bad[0].age.raw()),
              static_cast<double>(report.bad[0].age.raw()), 1e3);
  EXPECT_EQ(back->uplinks, report.uplinks);
  ASSERT_EQ(report.uplinks.size(), 4u);
  EXPECT_GT(report.uplinks[2].lost, 0u);
  EXPECT_EQ(report.uplinks[1].lost, 0u);
  EXPECT_GT(report.uplinks[1].sent, 0u);
  EXPECT_EQ(back->slow, report.slow);
  ASSERT_EQ(back->links.size(), report.links.size());
  EXPECT_GT(report.recent_rounds[0], 0u);
  EXPECT_EQ(back->recent_rounds, report.recent_rounds);
  for (std::size_t i = 0; i < report.links.size(); ++i) {
    EXPECT_EQ(back->links[i].recent, report.links[i].recent);
  }
}

TEST(MapReport, HasSlowLinks) {
  const MapReport report = found_by_a_mapper();
  ASSERT_EQ(report.slow.size(), 1u);
  EXPECT_EQ(report.slow[0].delay, milliseconds(1));
  Json json = Json::parse(to_json(report));
  json["slow"][0]["delay_seconds"] = -1;
  EXPECT_FALSE(parse_report(json.dump()));
}

TEST(MapReport, HasTheHostsOwnLinksAndThoseThatLost) {
  // The one that is cut; and the other, by which far probes that were lost would have come back.
  EXPECT_EQ(found_by_a_mapper().links.size(), 4u + 2u);
}

// Each member taken away, or made another kind of value, is refused with a reason.
TEST(MapReport, IsRefusedIfAnyMemberIsWrong) {
  const Json good = Json::parse(to_json(found_by_a_mapper()));
  for (const auto& [key, value] : good.items()) {
    Json without = good;
    without.erase(key);
    EXPECT_FALSE(parse_report(without.dump())) << key;
    Json other = good;
    other[key] = -1;
    EXPECT_FALSE(parse_report(other.dump())) << key;
  }
  for (const auto& [key, value] : good["links"][0].items()) {
    Json without = good;
    without["links"][0].erase(key);
    EXPECT_FALSE(parse_report(without.dump())) << key;
  }
  for (const auto& [key, value] : good["bad"][0].items()) {
    Json without = good;
    without["bad"][0].erase(key);
    EXPECT_FALSE(parse_report(without.dump())) << key;
    Json other = good;
    other["bad"][0][key] = Json::array();
    EXPECT_FALSE(parse_report(other.dump())) << key;
  }
}

// An agent cannot accuse links of other racks, nor of other hosts.
TEST(MapReport, IsRefusedIfItSpeaksOfOthers) {
  const Json good = Json::parse(to_json(found_by_a_mapper()));
  for (const char* name : {"p0.t0-1/up0", "h1/p0", "h3/p0", "p9.t0-0/up0", "nonsense"}) {
    Json json = good;
    json["bad"][0]["link"] = name;
    EXPECT_FALSE(parse_report(json.dump())) << name;
  }
}

TEST(MapReport, TakesAnyBytes) {
  const std::string good = to_json(found_by_a_mapper());
  Rng rng(1);
  for (int i = 0; i < 2000; ++i) {
    std::string bad = good;
    for (std::uint64_t n = rng.between(1, 4); n > 0; --n) {
      bad[rng.below(bad.size())] = static_cast<char>(rng.below(256));
    }
    bad.resize(rng.below(2) == 0 ? bad.size() : rng.below(bad.size()));
    static_cast<void>(parse_report(bad));  // whatever it says
  }
  EXPECT_FALSE(parse_report(""));
  EXPECT_FALSE(parse_report(std::string(100'000, '[')));
  EXPECT_FALSE(parse_report(std::string(kPageBytesMax + 1, ' ')));
}

}  // namespace
}  // namespace openmrc::mapper
