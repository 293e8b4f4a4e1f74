// SPDX-License-Identifier: BSD-3-Clause
// What it is worth to learn a base RTT that nobody knows: two hosts with a long way between them.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>

#include "tests/world/world.h"

namespace openmrc::test {
namespace {

constexpr std::int64_t kRate = 10'000'000'000;
constexpr std::uint32_t kBytes = 64u << 20;
constexpr Duration kGuess = microseconds(200);

// As a host in software has it: no trimming, and round trips do not shorten the base RTT.
core::NsccSettings software(Duration base_rtt, bool learns) {
  core::NsccSettings settings = core::nscc_defaults({.mtu = ByteCount(4096 + 88),
                                                     .base_rtt = base_rtt,
                                                     .link_bits_per_second = kRate,
                                                     .trimming = false});
  settings.measures_base_rtt = false;
  settings.learns_base_rtt = learns;
  return settings;
}

// How long 64 MiB take.
Duration time_of(Duration rtt, const core::NsccSettings& congestion) {
  WorldOptions options;
  options.seed = 7;
  options.planes = 2;
  options.evs_per_plane = 16;
  options.delay = rtt / 2;
  options.port_bits_per_second = kRate / 2;
  options.congestion = congestion;
  options.reorder_floor = milliseconds(1);
  options.recv.mtu = 4096;
  options.recv.mpr_dest = 32;
  options.send.mpr = 32;
  options.send.timeout = 13;
  options.writes = {{.length = kBytes}};
  const WorldResult result = run_world(options);
  EXPECT_EQ(result.violation.value_or("none"), "none");
  EXPECT_EQ(result.writes_succeeded, 1U);
  return result.when;
}

struct Times {
  Duration guessed;
  Duration learned;
  Duration told;
};

Times times_over(Duration rtt) {
  const Times times{.guessed = time_of(rtt, software(kGuess, false)),
                    .learned = time_of(rtt, software(kGuess, true)),
                    .told = time_of(rtt, software(rtt, false))};
  std::printf("%ld us: guessed %ld ms, learned %ld ms, told %ld ms\n",
              static_cast<long>(rtt.raw() / 1'000),
              static_cast<long>(times.guessed.raw() / 1'000'000),
              static_cast<long>(times.learned.raw() / 1'000'000),
              static_cast<long>(times.told.raw() / 1'000'000));
  return times;
}

// CC-26, CC-53
TEST(BaseRttOfALongWay, IsLearnedInTheFirstRoundTrips) {
  const Times times = times_over(milliseconds(5));
  EXPECT_GT(times.guessed, times.learned * 8);
  EXPECT_LT(times.learned, times.told + milliseconds(40)) << "that long it is not known";
}

// CC-53
TEST(BaseRttOfAShortWay, CostsNothing) {
  const Times times = times_over(microseconds(100));
  EXPECT_LE(times.learned, times.guessed * 101 / 100);
}

}  // namespace
}  // namespace openmrc::test
