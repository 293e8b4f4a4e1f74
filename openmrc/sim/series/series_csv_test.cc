// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/series/series_csv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace openmrc::sim {
namespace {

constexpr Picoseconds micros(std::int64_t n) { return Picoseconds(n * 1'000'000); }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

const TransportSample kTwoWindows{.connections = 2,
                                  .window_bytes = 300,
                                  .window_min_bytes = 100,
                                  .window_max_bytes = 200,
                                  .in_flight_bytes = 50,
                                  .rtt_ns = 9'000,
                                  .rtt_max_ns = 5'000};

// Two samples, 10 us apart, of one thing of each kind.
Series small_series() {
  Series series{.every = micros(10),
                .evs = 64,
                .host_link_bits_per_second = 100'000'000'000,
                .uplink_bits_per_second = 200'000'000'000,
                .times = {micros(10), micros(20)}};
  series.fabric = {{.transport = kTwoWindows,
                    .payload_bytes = 12'500,
                    .retransmissions = 1,
                    .marked = 2,
                    .trimmed = 3,
                    .lost = 4,
                    .ev_changes = {-3, 1, 2, 0, 0}},
                   {.payload_bytes = 12'500, .retransmissions = 5, .marked = 2}};
  series.fabric[1].trimmed = 3;
  series.fabric[1].lost = 4;
  const fabric::HostIndex h1(1);
  const fabric::HostIndex h2(2);
  series.hosts = {{.key = h1, .samples = {{.payload_bytes = 1'250}, {.payload_bytes = 3'750}}}};
  series.connections = {{.key = {h1, h2}, .samples = {{.evs = {32}}, {.evs = {31, 0, 1}}}}};
  const DirectedLink link{
      .link = {.kind = fabric::LinkId::Kind::kUplink, .plane = Plane(3), .rack = 17, .port = 4},
      .upward = true};
  series.links = {{.key = link,
                   .samples = {{.sent_bytes = 125'000, .queue_max_bytes = 9},
                               {.sent_bytes = 250'000, .marked = 6, .trimmed = 7, .lost = 8}}}};
  return series;
}

TEST(SeriesCsv, HasARowForEachTimeAndThing) {
  const auto lines = lines_of(write_series_csv(small_series()));
  ASSERT_EQ(lines.size(), 9U);
  const auto commas = [](const std::string& line) { return std::ranges::count(line, ','); };
  for (const std::string& line : lines) EXPECT_EQ(commas(line), commas(lines[0])) << line;
  EXPECT_EQ(lines[1],
            "10000,fabric,all,10000000000,1,2,150,100,200,50,4500,5000,61,1,2,0,0,,,,2,3,4");
  EXPECT_EQ(lines[2], "10000,host,h1,1000000000,0,0,,,,,,,,,,,,,,,,,");
  EXPECT_EQ(lines[3], "10000,connection,h1>h2,,,0,,,,,,,32,0,0,0,0,,,,,,");
  EXPECT_EQ(lines[4], "10000,link,p3.t0-17/up4 up,,,,,,,,,,,,,,,100000000000,0.500000,9,0,0,0");
}

TEST(SeriesCsv, CountsSinceTheRowBefore) {
  const auto lines = lines_of(write_series_csv(small_series()));
  EXPECT_EQ(lines.at(5), "20000,fabric,all,0,4,0,,,,,,,64,0,0,0,0,,,,0,0,0");
  EXPECT_EQ(lines.at(6), "20000,host,h1,2000000000,0,0,,,,,,,,,,,,,,,,,");
  EXPECT_EQ(lines.at(8), "20000,link,p3.t0-17/up4 up,,,,,,,,,,,,,,,100000000000,0.500000,0,6,7,8");
}

}  // namespace
}  // namespace openmrc::sim
