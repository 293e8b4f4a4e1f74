// SPDX-License-Identifier: BSD-3-Clause
// Recorded trajectories: what a change of the algorithm changes. Each line is the state after one
// signal: window, base RTT, RTT.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/core/congestion/congestion.h"
#include "openmrc/core/congestion/nscc.h"
#include "tests/support/golden.h"

namespace openmrc::core {
namespace {

constexpr std::int64_t kMtu = 4096;
constexpr std::int64_t kGigabit = 1'000'000'000;

const std::filesystem::path kGolden = std::filesystem::path(OPENMRC_GOLDEN_DIR) / "nscc";

std::string state_of(const CongestionControl& control) {
  std::ostringstream line;
  line << control.window().raw() << ' ' << control.base_rtt().raw() << ' ' << control.rtt().raw();
  return line.str();
}

NetworkFigures read_network(std::istream& words) {
  std::int64_t mtu = 0;
  std::int64_t base_rtt = 0;
  std::int64_t link = 0;
  std::string full_queue;
  words >> mtu >> base_rtt >> link >> full_queue;
  return {ByteCount(mtu), Duration(base_rtt), link, full_queue == "trim"};
}

SackSignal read_sack(std::istream& words) {
  std::int64_t now = 0;
  std::int64_t received = 0;
  std::int64_t in_flight = 0;
  bool congested = false;
  bool restore = false;
  unsigned penalty = 0;
  std::string rtt;
  words >> now >> received >> congested >> rtt >> in_flight >> penalty >> restore;
  SackSignal sack{.now = Instant(now),
                  .newly_received = ByteCount(received),
                  .congested = congested,
                  .rtt = std::nullopt,
                  .in_flight = ByteCount(in_flight),
                  .receiver_penalty = static_cast<std::uint8_t>(penalty),
                  .restore_window = restore};
  if (rtt != "-") sack.rtt = Duration(std::stoll(rtt));
  return sack;
}

// Trims and losses are told alike.
template <class Signal>
Signal read_gone(std::istream& words) {
  std::int64_t now = 0;
  std::int64_t size = 0;
  std::int64_t in_flight = 0;
  words >> now >> size >> in_flight;
  return {.now = Instant(now), .size = ByteCount(size), .in_flight = ByteCount(in_flight)};
}

// First the network, then one signal in a line; '#' begins a comment:
//   network mtu base_rtt_ns bits_per_second trim|drop
//   sack now_ns newly_received congested rtt_ns|- in_flight penalty restore
//   trim now_ns size in_flight
//   loss now_ns size in_flight
std::string replay(const std::filesystem::path& path) {
  CongestionControl control(FixedWindowSettings{});  // until the network is known
  std::ostringstream trajectory;
  std::ifstream lines(path);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "#") continue;
    if (kind == "network") {
      control = CongestionControl(nscc_defaults(read_network(words)));
    } else if (kind == "sack") {
      control.on_sack(read_sack(words));
    } else if (kind == "trim") {
      control.on_trim(read_gone<TrimSignal>(words));
    } else {
      EXPECT_EQ(kind, "loss") << path;
      control.on_loss(read_gone<LossSignal>(words));
    }
    EXPECT_FALSE(words.fail()) << path << ": " << line;
    trajectory << state_of(control) << '\n';
  }
  return trajectory.str();
}

// CC-30
TEST(NsccGolden, EveryScenarioGoesAsItDid) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kGolden)) {
    if (entry.path().extension() == ".in") names.push_back(entry.path().stem());
  }
  EXPECT_GE(names.size(), 7u);
  for (const std::string& name : names) {
    test::expect_golden(replay(kGolden / (name + ".in")), "nscc/" + name + ".out");
  }
}

// A network that is now empty, now full, and a peer that is mostly honest.
void plausible_signal(Rng& rng, Instant now, std::int64_t load, CongestionControl& control) {
  const auto below = [&](std::int64_t bound) {
    return static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(bound)));
  };
  const ByteCount in_flight(below(control.window().raw()));
  if (below(1'000) < load / 4) {
    return control.on_trim({.now = now, .size = ByteCount(kMtu), .in_flight = in_flight});
  }
  if (below(500) == 0) {
    return control.on_loss({.now = now, .size = ByteCount(kMtu), .in_flight = in_flight});
  }
  SackSignal sack{.now = now, .newly_received = ByteCount(256 * (1 + below(64)))};
  sack.in_flight = in_flight;
  sack.congested = below(1'000) < load;
  if (below(20) != 0) sack.rtt = nanoseconds(8'100 + below(500) + load * (10 + below(10)));
  if (below(100) == 0) sack.receiver_penalty = static_cast<std::uint8_t>(below(128));
  sack.restore_window = below(50) == 0;
  control.on_sack(sack);
}

TEST(NsccGolden, ARandomMixGoesAsItDid) {
  CongestionControl control(nscc_defaults({.mtu = ByteCount(kMtu),
                                           .base_rtt = nanoseconds(8'170),
                                           .link_bits_per_second = 800 * kGigabit,
                                           .trimming = true}));
  Rng rng(2'000);
  Instant now;
  std::int64_t load = 0;  // 0 .. 1000
  std::uint64_t digest = 0;
  std::ostringstream trajectory;
  for (int i = 1; i <= 2'000; ++i) {
    now = now + nanoseconds(static_cast<std::int64_t>(rng.below(1'000)));
    if (i % 100 == 0) load = static_cast<std::int64_t>(rng.below(1'001));
    plausible_signal(rng, now, load, control);
    // The whole trajectory counts, but only a part is kept to look at.
    digest ^= static_cast<std::uint64_t>(control.window().raw() ^ control.rtt().raw() << 32);
    split_mix(digest);
    if (i % 10 == 0) trajectory << state_of(control) << '\n';
  }
  trajectory << digest << '\n';
  test::expect_golden(trajectory.str(), "nscc/random-mix.out");
}

}  // namespace
}  // namespace openmrc::core
