// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/spray.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace openmrc::core {
namespace {

constexpr Plane kPlane{0};
constexpr Duration kRtt = microseconds(10);
constexpr Instant kStart(1'000'000);

PathIndex path_at(std::size_t index) { return PathIndex(static_cast<std::uint8_t>(index)); }

// A plane with so many paths, all in rotation.
class Sprayed {
 public:
  explicit Sprayed(std::size_t paths)
      : profile_(EvProfile::simple({.planes = 1, .evs_per_plane = paths, .seed = 1})), spray_() {
    spray_.start(profile_, PathRandom(7));
    for (std::size_t i = 0; i < paths; ++i) spray_.add(kPlane, path_at(i));
  }

  void mark(std::size_t path, Instant now, bool trimmed = false) {
    spray_.on_congestion(
        {.path = path_at(path), .plane = kPlane, .trimmed = trimmed, .now = now, .rtt = kRtt});
  }
  // How often each path is chosen for so many packets.
  std::map<std::size_t, int> choose(int packets) {
    std::map<std::size_t, int> counts;
    for (int i = 0; i < packets; ++i) ++counts[spray_.choose(kPlane).raw()];
    return counts;
  }
  // The turns that the path misses from now on, of a plane with no other marks.
  int turns_missed(std::size_t path) {
    int packets = 0;
    while (spray_.skips(path_at(path))) {
      EXPECT_NE(spray_.choose(kPlane), path_at(path));
      ++packets;
    }
    return packets / static_cast<int>(profile_.path_count() - 1);
  }
  Spray& spray() { return spray_; }

 private:
  EvProfile profile_;
  Spray spray_;
};

TEST(Spray, TakesEachPathOnceInAPassInAnOrderThatChanges) {
  Sprayed paths(16);
  std::set<std::vector<unsigned>> orders;
  for (int pass = 0; pass < 20; ++pass) {
    std::vector<unsigned> order;
    for (int i = 0; i < 16; ++i) order.push_back(paths.spray().choose(kPlane).raw());
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), 16U);
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 20U);
}

// MRC 11.2.2 (PATH-32)
TEST(Spray, AMarkIsOneTurnAndATrimIsFour) {
  Sprayed paths(9);
  paths.mark(3, kStart);
  EXPECT_NEAR(paths.turns_missed(3), 1, 1);
  paths.mark(4, kStart, true);
  EXPECT_NEAR(paths.turns_missed(4), 4, 1);
  for (int i = 0; i < 100; ++i) paths.mark(5, kStart);
  EXPECT_NEAR(paths.turns_missed(5), 15, 1) << "the marks of one window, however many";
}

// PATH-33
TEST(Spray, APathThatIsMarkedWindowAfterWindowMissesEverMore) {
  Sprayed paths(9);
  Instant now = kStart;
  int before = 0;
  for (int window = 0; window < 7; ++window) {
    paths.mark(3, now);
    const int missed = paths.turns_missed(3);
    EXPECT_GE(missed, before);
    before = missed;
    now = now + kRtt;
  }
  EXPECT_NEAR(before, 64, 8);
  paths.mark(3, now);
  EXPECT_NEAR(paths.turns_missed(3), 64, 8) << "no more than that";
}

// The marks of one window come together: they must not double the level each (PATH-33).
TEST(Spray, TheLevelRisesOnceInARoundTrip) {
  Sprayed paths(9);
  paths.mark(3, kStart);
  for (int i = 0; i < 10; ++i) {
    EXPECT_LE(paths.turns_missed(3), 2);
    paths.mark(3, kStart + kRtt - nanoseconds(200));
  }
}

// PATH-33
TEST(Spray, CleanFeedbackLowersTheLevel) {
  Sprayed paths(9);
  Instant now = kStart;
  for (int window = 0; window < 7; ++window, now = now + kRtt) {
    paths.mark(3, now);
    (void)paths.turns_missed(3);
  }
  for (int i = 0; i < 7; ++i) paths.spray().on_clean(path_at(3), kPlane);
  paths.mark(3, now);
  EXPECT_NEAR(paths.turns_missed(3), 1, 1);
}

// Where most paths are congested, senders that flee to the others chase each other (PATH-33).
TEST(Spray, TheLevelDoesNotRiseWhereManyPathsAreMarked) {
  Sprayed paths(9);
  Instant now = kStart;
  for (int window = 0; window < 10; ++window, now = now + kRtt) {
    for (std::size_t path = 0; path < 4; ++path) paths.mark(path, now);
    (void)paths.choose(9 * 20);
  }
  paths.mark(0, now);
  EXPECT_LE(paths.turns_missed(0), 2);
}

TEST(Spray, LoadsTheOtherPathsEqually) {
  Sprayed paths(8);
  paths.mark(3, kStart, true);
  auto counts = paths.choose(7 * 4);
  EXPECT_EQ(counts.count(3), 0U);
  for (const auto& [path, count] : counts) EXPECT_NEAR(count, 4, 1) << path;
}

TEST(Spray, ForgetsTheMarksOfAPathThatLeaves) {
  Sprayed paths(8);
  for (int i = 0; i < 8; ++i) paths.mark(3, kStart + kRtt * i, true);
  paths.spray().remove(kPlane, path_at(3));
  EXPECT_EQ(paths.choose(70).count(3), 0U);
  paths.spray().add(kPlane, path_at(3));
  EXPECT_FALSE(paths.spray().skips(path_at(3)));
  EXPECT_NEAR(paths.choose(80)[3], 10, 1);
}

// PATH-36
TEST(Spray, AvoidsAPathIfThereIsAnother) {
  Sprayed paths(2);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(paths.spray().choose_avoiding(kPlane, path_at(0)), path_at(1));
  }
  paths.mark(1, kStart, true);
  EXPECT_EQ(paths.spray().choose_avoiding(kPlane, path_at(0)), path_at(1)) << "though congested";
  Sprayed only(1);
  EXPECT_EQ(only.spray().choose_avoiding(kPlane, path_at(0)), path_at(0));
}

}  // namespace
}  // namespace openmrc::core
