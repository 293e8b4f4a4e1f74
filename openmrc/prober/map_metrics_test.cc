// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/prober/map_metrics.h"

#include <gtest/gtest.h>

#include <string>

#include "openmrc/fabric/names.h"

namespace openmrc::prober {
namespace {

using fabric::LinkId;
using mapper::BadLink;
using mapper::Direction;
using mapper::MapReport;

constexpr fabric::Shape kShape{.planes = 2, .racks = 4, .hosts_per_rack = 4, .uplinks = 4};

LinkId uplink(std::uint8_t plane, std::uint32_t port) {
  return {LinkId::Kind::kUplink, Plane(plane), 1, port};
}
LinkId own(std::uint8_t plane) { return {LinkId::Kind::kHost, Plane(plane), 1, 2}; }

// Of host 6: rack 1, downlink 2.
MapReport report() {
  MapReport made{.host = "h6", .index = fabric::HostIndex(6), .shape = kShape};
  made.counters.rounds_judged = 90;
  made.counters.rounds_host_late = 8;
  made.links = {{.link = own(0), .tally = {.sent = 90, .lost = 0}},
                {.link = own(1), .tally = {.sent = 90, .lost = 45}},
                {.link = uplink(0, 3), .tally = {.sent = 20, .lost = 10}}};
  made.uplinks = {{.sent = 90, .lost = 10}, {.sent = 80, .lost = 40}};
  made.bad = {{.link = uplink(0, 3),
               .direction = Direction::kDown,
               .loss = 0.5,
               .seen = {.sent = 20, .lost = 10},
               .age = milliseconds(2500)},
              {.link = own(1), .loss = 0.25, .seen = {.sent = 90, .lost = 45}}};
  made.slow = {{.link = uplink(1, 2), .delay = microseconds(1500)}};
  return made;
}

TEST(MapMetrics, HaveSumsByPlaneAndEachVerdict) {
  const std::string text = host::prometheus_text(samples_of(report()));
  constexpr const char* kLink =
      "{plane=\"0\",rack=\"1\",tier=\"uplink\",port=\"3\",link=\"p0.t0-1/"
      "up3\",direction=\"down\"} ";
  for (const std::string& line :
       {std::string("openmrc_probe_rounds_total{outcome=\"judged\"} 90\n"),
        std::string("openmrc_probe_rounds_total{outcome=\"host_late\"} 8\n"),
        std::string("openmrc_probes_lost_total{plane=\"1\",tier=\"host\"} 45\n"),
        std::string("openmrc_probes_sent_total{plane=\"0\",tier=\"uplink\"} 90\n"),
        std::string("openmrc_bad_links{plane=\"0\"} 1\n"),
        std::string("openmrc_slow_links{plane=\"0\"} 0\n"),
        std::string("openmrc_slow_links{plane=\"1\"} 1\n"),
        std::string("openmrc_slow_link_delay_seconds{plane=\"1\",rack=\"1\",tier=\"uplink\","
                    "port=\"2\",link=\"p1.t0-1/up2\"} 0.0015\n"),
        std::string("openmrc_uplinks_visible{plane=\"0\",rack=\"1\"} 1\n"),
        std::string("openmrc_uplinks_visible{plane=\"1\",rack=\"1\"} 0\n"),
        std::string("openmrc_bad_link_loss_ratio") + kLink + "0.5\n",
        std::string("openmrc_bad_link_probes_sent_total") + kLink + "20\n",
        std::string("openmrc_bad_link_probes_lost_total") + kLink + "10\n",
        std::string("openmrc_bad_link_seconds") + kLink + "2.5\n",
        std::string("openmrc_bad_link_loss_ratio{plane=\"1\",rack=\"1\",tier=\"host\",port=\"2\","
                    "link=\"p1.t0-1/down2\",direction=\"unknown\"} 0.25\n")}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

// docs/guide/operate.md says so.
TEST(MapMetrics, Are7APlaneAnd3And5ForEachOfTheWorst32Links) {
  MapReport big = report();
  big.bad.clear();
  big.slow.clear();
  EXPECT_EQ(samples_of(big).size(), 7u * 2 + 3);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    big.bad.push_back({.link = uplink(0, i), .loss = i / 1000.0});
    big.slow.push_back({.link = uplink(1, i), .delay = milliseconds(i)});
  }
  const auto samples = samples_of(big);
  EXPECT_EQ(samples.size(), 7u * 2 + 3 + 5 * kBadLinksShown);
  const std::string text = host::prometheus_text(samples);
  EXPECT_NE(text.find("openmrc_bad_links{plane=\"0\"} 1000\n"), std::string::npos);
  EXPECT_NE(text.find("openmrc_slow_links{plane=\"1\"} 1000\n"), std::string::npos);
  for (const char* link : {"p0.t0-1/up", "p1.t0-1/up"}) {
    EXPECT_NE(text.find(std::string(link) + "999\""), std::string::npos);
    EXPECT_EQ(text.find(std::string(link) + "100\""), std::string::npos);
  }
  // They fit a message of the agent beside the rest.
  EXPECT_LT(text.size(), 32u * 1024);
}

}  // namespace
}  // namespace openmrc::prober
