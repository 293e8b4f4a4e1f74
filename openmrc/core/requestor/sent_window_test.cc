// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/requestor/sent_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <vector>

#include "openmrc/base/rng.h"

namespace openmrc::core {
namespace {

constexpr std::int64_t kBelowWrap = (std::int64_t{1} << 24) - 100;

// A packet that the window tells of, by its PSN, which the tests write into `message`.
struct Told {
  std::uint32_t order;
  bool was_in_flight;

  bool operator==(const Told&) const = default;
};

// The same as a map: what has been sent and is not known to have arrived.
class Model {
 public:
  explicit Model(std::int64_t first) : oldest_(first), next_(first) {}

  [[nodiscard]] std::int64_t oldest() const { return oldest_; }
  [[nodiscard]] std::int64_t next() const { return next_; }
  [[nodiscard]] bool is_in_flight(std::int64_t psn) const {
    const auto found = packets_.find(psn);
    return found != packets_.end() && found->second == Fate::kInFlight;
  }

  void append() { packets_[next_++] = Fate::kInFlight; }
  void lose(std::int64_t psn) {
    packets_[psn] = Fate::kLost;
    lost_.insert(psn);
  }
  void retransmit(std::int64_t psn) {
    packets_[psn] = Fate::kInFlight;
    lost_.erase(psn);
  }
  std::vector<Told> arrived_below(std::int64_t end) {
    std::vector<Told> told;
    while (!packets_.empty() && packets_.begin()->first < end) {
      told.push_back(take(packets_.begin()));
    }
    oldest_ = std::max(oldest_, end);
    return told;
  }
  std::vector<Told> arrived_bits(std::int64_t base, std::uint64_t bits) {
    std::vector<Told> told;
    for (int i = 0; i < 64; ++i) {
      const auto found = packets_.find(base + i);
      if ((bits >> i & 1) != 0 && found != packets_.end()) told.push_back(take(found));
    }
    return told;
  }

  [[nodiscard]] const std::set<std::int64_t>& lost() const { return lost_; }
  // What `visit_in_flight` shows.
  [[nodiscard]] std::vector<std::int64_t> visits(std::int64_t end) const {
    std::vector<std::int64_t> visits;
    for (const auto& [psn, is] : packets_) {
      if (psn < end && is == Fate::kInFlight) visits.push_back(psn);
    }
    return visits;
  }

 private:
  enum class Fate { kInFlight, kLost };

  Told take(std::map<std::int64_t, Fate>::iterator at) {
    const Told told{static_cast<std::uint32_t>(at->first), at->second == Fate::kInFlight};
    lost_.erase(at->first);
    packets_.erase(at);
    return told;
  }

  std::int64_t oldest_;
  std::int64_t next_;
  std::map<std::int64_t, Fate> packets_;
  std::set<std::int64_t> lost_;
};

// Writes down what the window tells.
auto into(std::vector<Told>& told) {
  return [&told](const SentPacket& packet, bool was_in_flight) {
    told.push_back({packet.message, was_in_flight});
  };
}

// A window and its model, told the same.
class Pair {
 public:
  Pair(std::uint8_t mpr, std::int64_t first)
      : range_(mpr * kPsnsPerMpr), window_(mpr, UnwrappedPsn(first)), model_(first) {}

  SentPool& pool() { return pool_; }
  SentWindow& window() { return window_; }
  Model& model() { return model_; }
  [[nodiscard]] std::int64_t range() const { return range_; }

  void append() {
    ASSERT_TRUE(window_.can_append(pool_));
    SentPacket& packet = window_.append(pool_);
    packet.message = static_cast<std::uint32_t>(model_.next());
    model_.append();
  }
  void lose(std::int64_t psn) {
    window_.mark_lost(pool_, UnwrappedPsn(psn));
    model_.lose(psn);
  }
  void retransmit(std::int64_t psn) {
    EXPECT_EQ(window_.retransmit(pool_, UnwrappedPsn(psn)).message,
              static_cast<std::uint32_t>(psn));
    model_.retransmit(psn);
  }
  void arrive_below(std::int64_t end) {
    std::vector<Told> told;
    window_.arrived_below(pool_, UnwrappedPsn(end), into(told));
    std::ranges::sort(told, {}, &Told::order);  // those that were declared lost come last
    ASSERT_EQ(told, model_.arrived_below(end));
  }
  void arrive_bits(std::int64_t base, std::uint64_t bits) {
    std::vector<Told> told;
    window_.arrived_bits(pool_, UnwrappedPsn(base), bits, into(told));
    std::ranges::sort(told, {}, &Told::order);
    ASSERT_EQ(told, model_.arrived_bits(base, bits));
  }

  void expect_same() {
    ASSERT_EQ(window_.oldest().raw(), model_.oldest());
    ASSERT_EQ(window_.next().raw(), model_.next());
    ASSERT_EQ(window_.size(), model_.next() - model_.oldest());
    ASSERT_EQ(window_.empty(), model_.next() == model_.oldest());
    ASSERT_EQ(window_.has_lost(), !model_.lost().empty());
    if (window_.has_lost()) {
      ASSERT_EQ(window_.oldest_lost(pool_).raw(), *model_.lost().begin());
    }
    if (window_.empty()) {
      ASSERT_EQ(pool_.in_use(), 0u);
    }
    ASSERT_LE(pool_.in_use() * 64, static_cast<std::size_t>(window_.size()) + 2 * 64);
  }
  void expect_visits(std::int64_t end) {
    std::vector<std::int64_t> visits;
    window_.visit_in_flight(pool_, UnwrappedPsn(end),
                            [&](UnwrappedPsn psn, const SentPacket& packet) {
                              EXPECT_EQ(packet.message, static_cast<std::uint32_t>(psn.raw()));
                              visits.push_back(psn.raw());
                              return true;
                            });
    ASSERT_EQ(visits, model_.visits(end));
  }

 private:
  std::int64_t range_;
  SentPool pool_{1u << 10};
  SentWindow window_;
  Model model_;
};

// One step of a sender's life, drawn at random.
void step(Pair& pair, Rng& rng) {
  Model& model = pair.model();
  const std::int64_t size = model.next() - model.oldest();
  const auto any_psn = [&] {
    return model.oldest() + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(size)));
  };
  switch (rng.below(10)) {
    case 0:
    case 1:
    case 2:
    case 3:
      for (auto left = rng.below(100); left > 0; --left) {
        if (model.next() - model.oldest() == pair.range()) return;
        ASSERT_NO_FATAL_FAILURE(pair.append());
      }
      return;
    case 4: {
      if (size == 0) return;
      const std::int64_t end = rng.chance({1, 10}) ? model.next() : any_psn();
      return pair.arrive_below(std::min(end, model.oldest() + 150));
    }
    case 5: {
      // From below the window to beyond it.
      const std::int64_t base =
          model.oldest() - 80 +
          static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(size + 160)));
      return pair.arrive_bits(base, rng.chance({1, 4}) ? ~std::uint64_t{0} : rng.next());
    }
    case 6:
    case 7:
      for (auto left = rng.below(20); left > 0 && size > 0; --left) {
        const std::int64_t psn = any_psn();
        const bool in_flight = model.is_in_flight(psn);
        ASSERT_EQ(pair.window().is_in_flight(pair.pool(), UnwrappedPsn(psn)), in_flight);
        if (in_flight) pair.lose(psn);
      }
      return;
    case 8:
      for (auto left = rng.below(20); left > 0 && pair.window().has_lost(); --left) {
        pair.retransmit(pair.window().oldest_lost(pair.pool()).raw());
      }
      return;
    default:
      // Not the oldest, as when a window has shrunk.
      if (size > 0) {
        const auto lost = model.lost().lower_bound(any_psn());
        if (lost != model.lost().end()) pair.retransmit(*lost);
      }
      return;
  }
}

// MRC 7.4
TEST(SentWindow, AgreesWithAMapOverManyWraps) {
  for (const std::uint8_t mpr : std::initializer_list<std::uint8_t>{1, 3, 8, 255}) {
    SCOPED_TRACE(static_cast<int>(mpr));
    Pair pair(mpr, kBelowWrap);
    Rng rng(mpr);
    for (int i = 0; i < 4'000; ++i) {
      ASSERT_NO_FATAL_FAILURE(step(pair, rng)) << "step " << i;
      ASSERT_NO_FATAL_FAILURE(pair.expect_same()) << "step " << i;
      if (i % 16 == 0) {
        const std::int64_t size = pair.window().size();
        const std::int64_t end =
            pair.model().oldest() +
            static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(size + 10)));
        ASSERT_NO_FATAL_FAILURE(pair.expect_visits(end)) << "step " << i;
      }
    }
    EXPECT_GT(pair.model().oldest(), std::int64_t{1} << 24) << "it has passed the wrap";
    pair.arrive_below(pair.model().next());
    EXPECT_EQ(pair.pool().in_use(), 0u);
  }
}

TEST(SentWindow, HoldsAsManyAsItsRangeWhereverItBegins) {
  for (const std::uint8_t mpr : std::initializer_list<std::uint8_t>{1, 3, 255}) {
    for (const std::int64_t first : {0, 1, 63, 64, 100}) {
      SCOPED_TRACE(first);
      Pair pair(mpr, first);
      for (std::int64_t i = 0; i < pair.range(); ++i) ASSERT_NO_FATAL_FAILURE(pair.append());
      ASSERT_NO_FATAL_FAILURE(pair.expect_visits(pair.model().next()));
      pair.arrive_below(first + pair.range());
      ASSERT_NO_FATAL_FAILURE(pair.expect_same());
    }
  }
}

TEST(SentWindow, IgnoresBitsOutsideTheWindow) {
  Pair pair(1, 1'000);
  for (int i = 0; i < 100; ++i) pair.append();
  pair.arrive_below(1'010);
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  for (const std::int64_t base : {0, 946, 1'100, 1'101, 5'000}) {
    SCOPED_TRACE(base);
    ASSERT_NO_FATAL_FAILURE(pair.arrive_bits(base, kAll));
    EXPECT_EQ(pair.model().visits(2'000).size(), 90u);
  }
  ASSERT_NO_FATAL_FAILURE(pair.arrive_bits(947, kAll));  // its last bit is the oldest
  EXPECT_EQ(pair.model().visits(2'000).front(), 1'011);
  ASSERT_NO_FATAL_FAILURE(pair.arrive_bits(1'099, kAll));  // its first bit is the latest
  EXPECT_EQ(pair.model().visits(2'000).back(), 1'098);
  EXPECT_EQ(pair.window().oldest().raw(), 1'010);
}

TEST(SentWindow, ABitBeyondTheEndDoesNotTouchWhatIsSentThereLater) {
  Pair pair(1, 0);
  pair.append();
  ASSERT_NO_FATAL_FAILURE(pair.arrive_bits(0, ~std::uint64_t{1}));
  pair.append();
  EXPECT_TRUE(pair.window().is_in_flight(pair.pool(), UnwrappedPsn(1)));
}

TEST(SentWindow, TellsOfEachPacketOnceAndWhetherItWasInFlight) {
  Pair pair(1, 0);
  for (int i = 0; i < 3; ++i) pair.append();
  pair.lose(1);
  ASSERT_NO_FATAL_FAILURE(pair.arrive_bits(1, 1));  // it was only late
  EXPECT_FALSE(pair.window().has_lost());
  std::vector<Told> told;
  pair.window().arrived_below(pair.pool(), UnwrappedPsn(3), into(told));
  EXPECT_EQ(told, (std::vector<Told>{{0, true}, {2, true}}));
}

TEST(SentWindow, FindsTheOldestLostPacketWhicheverWayTheyWereLost) {
  Pair pair(8, 0);
  for (int i = 0; i < 500; ++i) pair.append();
  for (const std::int64_t psn : {300, 20, 450, 21}) {
    pair.lose(psn);
    ASSERT_NO_FATAL_FAILURE(pair.expect_same());
  }
  pair.retransmit(20);
  ASSERT_NO_FATAL_FAILURE(pair.expect_same());
  pair.lose(5);
  ASSERT_NO_FATAL_FAILURE(pair.expect_same());
  ASSERT_NO_FATAL_FAILURE(pair.arrive_below(22));
  EXPECT_EQ(pair.window().oldest_lost(pair.pool()).raw(), 300);
  pair.retransmit(300);
  pair.retransmit(450);
  EXPECT_FALSE(pair.window().has_lost());
  pair.lose(100);  // below all that were lost before
  EXPECT_EQ(pair.window().oldest_lost(pair.pool()).raw(), 100);
}

TEST(SentWindow, StopsVisitingWhenItIsTold) {
  Pair pair(8, 0);
  for (int i = 0; i < 200; ++i) pair.append();
  int visits = 0;
  pair.window().visit_in_flight(pair.pool(), UnwrappedPsn(200),
                                [&](UnwrappedPsn, const SentPacket&) { return ++visits < 70; });
  EXPECT_EQ(visits, 70);
}

TEST(SentWindow, AVisitorMayDeclareLostWhatItVisits) {
  Pair pair(8, 0);
  for (int i = 0; i < 200; ++i) pair.append();
  ASSERT_NO_FATAL_FAILURE(pair.arrive_bits(10, 0xff));
  std::vector<std::int64_t> visited;
  pair.window().visit_in_flight(pair.pool(), UnwrappedPsn(150),
                                [&](UnwrappedPsn psn, const SentPacket&) {
                                  visited.push_back(psn.raw());
                                  pair.lose(psn.raw());
                                  return true;
                                });
  EXPECT_EQ(visited.size(), 142u);
  ASSERT_NO_FATAL_FAILURE(pair.expect_same());
  ASSERT_NO_FATAL_FAILURE(pair.expect_visits(200));
}

TEST(SentWindow, ClearGivesEverythingBackAndTellsWhatWasInFlight) {
  Pair pair(8, 10);
  for (int i = 0; i < 300; ++i) pair.append();
  ASSERT_NO_FATAL_FAILURE(pair.arrive_bits(30, 0b101));
  pair.lose(100);
  pair.lose(200);
  std::vector<std::int64_t> dropped;
  pair.window().clear(pair.pool(), [&](const SentPacket& packet) {
    dropped.push_back(static_cast<std::int64_t>(packet.message));
  });
  EXPECT_EQ(dropped.size(), 300u - 4);
  EXPECT_TRUE(std::ranges::none_of(dropped, [](std::int64_t psn) {
    return psn == 30 || psn == 32 || psn == 100 || psn == 200;
  }));
  EXPECT_EQ(pair.pool().in_use(), 0u);
  EXPECT_TRUE(pair.window().empty());
  EXPECT_FALSE(pair.window().has_lost());
}

TEST(SentWindow, ClearGivesBackWhatWasTakenForAPacketThatWasNeverSent) {
  Pair pair(1, 0);
  ASSERT_TRUE(pair.window().can_append(pair.pool()));
  EXPECT_EQ(pair.pool().in_use(), 1u);
  pair.window().clear(pair.pool(), [](const SentPacket&) { FAIL(); });
  EXPECT_EQ(pair.pool().in_use(), 0u);
}

TEST(SentWindow, AskingTwiceTakesOneChunk) {
  Pair pair(1, 0);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(pair.window().can_append(pair.pool()));
  EXPECT_EQ(pair.pool().in_use(), 1u);
}

TEST(SentWindow, AnIdleWindowHoldsNoChunkWhereverItStops) {
  for (std::int64_t count = 1; count <= 130; ++count) {
    Pair pair(8, 0);
    for (std::int64_t i = 0; i < count; ++i) pair.append();
    ASSERT_NO_FATAL_FAILURE(pair.arrive_below(count));
    ASSERT_EQ(pair.pool().in_use(), 0u) << count;
    ASSERT_NO_FATAL_FAILURE(pair.append());  // into the middle of a fresh chunk
    ASSERT_NO_FATAL_FAILURE(pair.expect_visits(1'000));
    ASSERT_NO_FATAL_FAILURE(pair.arrive_below(count + 1));
    ASSERT_EQ(pair.pool().in_use(), 0u) << count;
  }
}

TEST(SentWindow, CannotAppendWhenThePoolIsExhausted) {
  SentPool pool(1);  // rounded up to a slab
  std::vector<PoolIndex> others;
  for (PoolIndex index = pool.take(); index != kNoElement; index = pool.take()) {
    others.push_back(index);
  }
  pool.give_back(others.back());
  others.pop_back();
  SentWindow window(8, UnwrappedPsn(60));
  for (int i = 60; i < 64; ++i) {
    ASSERT_TRUE(window.can_append(pool));
    window.append(pool);
  }
  EXPECT_FALSE(window.can_append(pool)) << "64 begins the next chunk";
  EXPECT_FALSE(window.can_append(pool));
  EXPECT_EQ(window.size(), 4);
  window.arrived_below(pool, UnwrappedPsn(64), [](const SentPacket&, bool) {});
  EXPECT_TRUE(window.can_append(pool)) << "its own chunk came back";
}

TEST(SentWindow, WindowsThatShareAPoolDoNotMeet) {
  SentPool pool(64);
  SentWindow a(1, UnwrappedPsn(0));
  SentWindow b(1, UnwrappedPsn(0));
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(a.can_append(pool) && b.can_append(pool));
    a.append(pool).size = 1;
    b.append(pool).size = 2;
  }
  a.arrived_below(pool, UnwrappedPsn(50), [](const SentPacket&, bool) {});
  int left = 0;
  b.clear(pool, [&](const SentPacket& packet) {
    EXPECT_EQ(packet.size, 2u);
    ++left;
  });
  EXPECT_EQ(left, 50);
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST(SentWindowDeathTest, RefusesWhatCannotHappen) {
#ifdef OPENMRC_DEBUG_CHECKS
  Pair pair(1, 0);
  pair.append();
  EXPECT_DEATH(pair.window().retransmit(pair.pool(), UnwrappedPsn(0)), "only what is lost");
  EXPECT_DEATH(static_cast<void>(pair.window().oldest_lost(pair.pool())), "there is a lost packet");
  pair.lose(0);
  EXPECT_DEATH(pair.window().mark_lost(pair.pool(), UnwrappedPsn(0)), "only what is in flight");
#else
  GTEST_SKIP() << "checked in debug builds only";
#endif
}

}  // namespace
}  // namespace openmrc::core
