// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/responder/arrival_window.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "openmrc/base/rng.h"

namespace openmrc::core {
namespace {

// Just below the first wrap of a PSN, so that the windows cross it at once.
constexpr std::int64_t kBelowWrap = (std::int64_t{1} << 24) - 100;
constexpr std::uint8_t kMprs[] = {1, 3, 8, 255};

std::uint64_t bits_of(const std::set<std::int64_t>& psns, std::int64_t base) {
  std::uint64_t bits = 0;
  for (auto at = psns.lower_bound(base); at != psns.end() && *at < base + 64; ++at) {
    bits |= std::uint64_t{1} << (*at - base);
  }
  return bits;
}

// The same as a set: what has arrived above `expected`, and which of it ends a message.
struct Model {
  std::int64_t expected;
  std::map<std::int64_t, bool> arrived = {};
  std::set<std::int64_t> unreported = {};

  ArrivalWindow::Advance mark(std::int64_t psn, bool ends_message) {
    arrived[psn] = ends_message;
    unreported.insert(psn);
    ArrivalWindow::Advance moved;
    while (!arrived.empty() && arrived.begin()->first == expected) {
      moved.messages += arrived.begin()->second ? 1 : 0;
      ++moved.packets;
      arrived.erase(arrived.begin());
      unreported.erase(expected);
      ++expected;
    }
    return moved;
  }
  [[nodiscard]] bool has(std::int64_t psn) const { return psn < expected || arrived.contains(psn); }
  [[nodiscard]] std::int64_t end() const {
    return arrived.empty() ? expected : arrived.rbegin()->first + 1;
  }
  [[nodiscard]] std::uint64_t bits(std::int64_t base) const {
    std::uint64_t bits = 0;
    for (auto at = arrived.lower_bound(base); at != arrived.end() && at->first < base + 64; ++at) {
      bits |= std::uint64_t{1} << (at->first - base);
    }
    return bits;
  }
  void reported(const ArrivalWindow::Bitmap& bitmap) {
    std::erase_if(unreported, [&](std::int64_t psn) {
      const std::int64_t bit = psn - bitmap.base.raw();
      return bit >= 0 && bit < 64 && (bitmap.bits >> bit & 1) != 0;
    });
  }
};

// A PSN that has not arrived: mostly near the lower end, so that the window moves; sometimes near
// the highest that has arrived, as when packets are sprayed; sometimes anywhere.
std::int64_t draw_new(const Model& model, std::int64_t range, Rng& rng) {
  const std::uint64_t kind = rng.below(20);
  const std::int64_t from = kind < 12 || kind == 19 ? model.expected : model.end();
  const std::uint64_t reach = kind == 19 ? static_cast<std::uint64_t>(range) : 16;
  std::int64_t psn = from + static_cast<std::int64_t>(rng.below(reach));
  while (model.has(psn)) ++psn;
  return psn < model.expected + range ? psn : model.expected;
}

void expect_same(const ArrivalWindow& window, const Model& model) {
  ASSERT_EQ(window.expected().raw(), model.expected);
  ASSERT_EQ(window.cumulative().raw(), model.expected - 1);
  ASSERT_EQ(window.end().raw(), model.end());
  ASSERT_EQ(window.out_of_order(), static_cast<std::int64_t>(model.arrived.size()));
}

// MRC 6.3.1, 7.5.2.2
TEST(ArrivalWindow, AgreesWithASetOverManyWraps) {
  for (const std::uint8_t mpr : kMprs) {
    SCOPED_TRACE(static_cast<int>(mpr));
    ArrivalWindow window(mpr, UnwrappedPsn(kBelowWrap));
    Model model{.expected = kBelowWrap};
    Rng rng(mpr);
    ASSERT_EQ(window.range(), mpr * 128);
    for (int i = 0; i < 20'000; ++i) {
      const std::int64_t psn = draw_new(model, window.range(), rng);
      const bool ends = rng.chance({1, 5});
      const auto expected = model.mark(psn, ends);
      const auto advance = window.mark(UnwrappedPsn(psn), ends);
      ASSERT_EQ(advance.packets, expected.packets) << psn;
      ASSERT_EQ(advance.messages, expected.messages) << psn;
      ASSERT_NO_FATAL_FAILURE(expect_same(window, model));
      for (int look = 0; look < 4; ++look) {
        const std::int64_t reach = static_cast<std::int64_t>(
            rng.below(static_cast<std::uint64_t>(rng.chance({1, 2}) ? 80 : 3 * window.range())));
        const std::int64_t at = model.expected - 5 + reach;
        ASSERT_EQ(window.has(UnwrappedPsn(at)), model.has(at)) << at << " of " << model.expected;
      }
      const auto gaps = window.report_gaps();
      ASSERT_EQ(gaps.base.raw(), model.expected);
      ASSERT_EQ(gaps.bits, model.bits(model.expected));
      if (!rng.chance({1, 3})) continue;
      const auto bitmap = window.report();
      ASSERT_GE(bitmap.base.raw(), model.expected);
      ASSERT_LE(bitmap.base.raw(), model.end());
      ASSERT_EQ(bitmap.bits, model.bits(bitmap.base.raw()));
    }
    EXPECT_GT(window.expected().raw(), std::int64_t{1} << 24) << "it has passed the wrap";
  }
}

TEST(ArrivalWindow, FillsUpToItsRangeAndMovesAllTheWay) {
  for (const std::uint8_t mpr : kMprs) {
    SCOPED_TRACE(static_cast<int>(mpr));
    std::int64_t first = 37;  // not where a word begins
    ArrivalWindow window(mpr, UnwrappedPsn(first));
    for (int round = 0; round < 3; ++round) {
      const std::int64_t range = window.range();
      for (std::int64_t i = range - 1; i > 0; --i) {
        const auto advance = window.mark(UnwrappedPsn(first + i), true);
        ASSERT_EQ(advance.packets, 0);
        ASSERT_EQ(advance.messages, 0);
      }
      EXPECT_EQ(window.out_of_order(), range - 1);
      EXPECT_EQ(window.end().raw(), first + range);
      const auto advance = window.mark(UnwrappedPsn(first), false);
      EXPECT_EQ(advance.packets, range);
      EXPECT_EQ(advance.messages, range - 1);
      first += range;
      EXPECT_EQ(window.expected().raw(), first);
      EXPECT_EQ(window.end().raw(), first);
      EXPECT_EQ(window.out_of_order(), 0);
      EXPECT_EQ(window.report_gaps().bits, 0u);
    }
  }
}

// REL-14
TEST(ArrivalWindow, CountsAMessageWhenEverythingBeforeItsEndHasArrived) {
  ArrivalWindow window(1, UnwrappedPsn(0));
  EXPECT_EQ(window.mark(UnwrappedPsn(2), true).messages, 0);
  EXPECT_EQ(window.mark(UnwrappedPsn(0), true).messages, 1);
  EXPECT_EQ(window.mark(UnwrappedPsn(4), true).messages, 0);
  EXPECT_EQ(window.mark(UnwrappedPsn(1), false).messages, 1);
  EXPECT_EQ(window.mark(UnwrappedPsn(3), true).messages, 2);
  EXPECT_EQ(window.mark(UnwrappedPsn(5), false).messages, 0);
}

TEST(ArrivalWindow, HoldsEverythingBelowItForArrived) {
  ArrivalWindow window(1, UnwrappedPsn(1'000));
  EXPECT_TRUE(window.has(UnwrappedPsn(999)));
  EXPECT_TRUE(window.has(UnwrappedPsn(0)));
  EXPECT_FALSE(window.has(UnwrappedPsn(1'000)));
  EXPECT_FALSE(window.has(UnwrappedPsn(1'000 + 128)));
}

TEST(ArrivalWindow, DoesNotMistakeThePsnOneRangeLaterForOneThatArrived) {
  ArrivalWindow window(1, UnwrappedPsn(0));
  window.mark(UnwrappedPsn(5), false);
  EXPECT_TRUE(window.has(UnwrappedPsn(5)));
  EXPECT_FALSE(window.has(UnwrappedPsn(5 + 128)));
}

// MRC 7.5.2.2
TEST(ArrivalWindow, WithoutGapsItReportsAnEmptyBitmapBehindTheCumulativePsn) {
  ArrivalWindow window(8, UnwrappedPsn(10));
  for (std::int64_t psn = 10; psn < 500; ++psn) {
    window.mark(UnwrappedPsn(psn), false);
    const auto bitmap = window.report();
    ASSERT_EQ(bitmap.base, window.expected());
    ASSERT_EQ(bitmap.bits, 0u);
  }
}

// MRC 7.5.2.2 (REL-30)
TEST(ArrivalWindow, ReportsOldArrivalsAgainWhereThereIsRoom) {
  ArrivalWindow window(8, UnwrappedPsn(0));
  for (std::int64_t psn = 1; psn <= 200; ++psn) {
    window.mark(UnwrappedPsn(psn), false);
    const auto bitmap = window.report();
    ASSERT_EQ(bitmap.base.raw(), psn < 64 ? 0 : psn - 63);
    ASSERT_EQ(bitmap.bits,
              psn < 64 ? (~std::uint64_t{0} >> (63 - psn) & ~std::uint64_t{1}) : ~std::uint64_t{0});
  }
}

// MRC 7.5.2.2
TEST(ArrivalWindow, ReportsABurstPieceByPiece) {
  ArrivalWindow window(8, UnwrappedPsn(0));
  for (std::int64_t psn = 1; psn <= 200; ++psn) window.mark(UnwrappedPsn(psn), false);
  for (const std::int64_t base : {1, 65, 129, 137, 137}) {
    const auto bitmap = window.report();
    // What lies below the first packet may be shown too, as long as none of them is left out.
    EXPECT_LE(bitmap.base.raw(), base);
    EXPECT_GE(bitmap.base.raw(), base - 3);
  }
}

// MRC 7.5.2.2: as long as no SACK is lost, each packet that arrives out of order is in one.
TEST(ArrivalWindow, ReportsEveryPacketBeforeTheCumulativePsnPassesIt) {
  for (const std::uint8_t mpr : kMprs) {
    SCOPED_TRACE(static_cast<int>(mpr));
    ArrivalWindow window(mpr, UnwrappedPsn(kBelowWrap));
    Rng rng(100u + mpr);
    std::set<std::int64_t> unreported;
    std::int64_t next = kBelowWrap;  // what the sender sends next
    std::vector<std::int64_t> late;
    for (int i = 0; i < 30'000; ++i) {
      // A sprayed flow: a tenth of the packets is late, by up to forty packets.
      std::int64_t psn = next;
      const bool full = next >= window.expected().raw() + window.range();
      if (!late.empty() && (full || late.size() > 40 || rng.chance({1, 10}))) {
        const auto place = static_cast<std::ptrdiff_t>(rng.below(late.size()));
        psn = late[static_cast<std::size_t>(place)];
        late.erase(late.begin() + place);
      } else if (rng.chance({1, 10})) {
        late.push_back(next++);
        continue;
      } else {
        ++next;
      }
      window.mark(UnwrappedPsn(psn), false);
      if (psn > window.cumulative().raw()) unreported.insert(psn);
      const auto passed = unreported.upper_bound(window.cumulative().raw());
      ASSERT_EQ(unreported.begin(), passed)
          << *unreported.begin() << " was in no SACK, cumulative " << window.cumulative().raw();
      const auto bitmap = window.report();
      std::erase_if(unreported, [&](std::int64_t waiting) {
        const std::int64_t bit = waiting - bitmap.base.raw();
        return bit >= 0 && bit < 64 && (bitmap.bits >> bit & 1) != 0;
      });
    }
  }
}

// MRC 7.5.2.2
TEST(ArrivalWindow, ReportsAPacketFarAheadAtOnce) {
  ArrivalWindow window(8, UnwrappedPsn(0));
  window.mark(UnwrappedPsn(500), false);
  const auto bitmap = window.report();
  EXPECT_LE(bitmap.base.raw(), 500);
  EXPECT_EQ(bitmap.bits, bits_of({500}, bitmap.base.raw()));
  EXPECT_NE(bitmap.bits, 0u) << "base " << bitmap.base.raw();
}

// MRC 7.5.2.2: the bitmap starts at the lowest packet that no SACK has reported, and what a gap
// that closes leaves behind above it has been reported.
TEST(ArrivalWindow, ReportsWhatIsNewAfterAGapFarBelowHasClosed) {
  ArrivalWindow window(8, UnwrappedPsn(0));
  for (std::int64_t psn = 2; psn < 400; ++psn) {
    window.mark(UnwrappedPsn(psn), false);
    static_cast<void>(window.report());
  }
  window.mark(UnwrappedPsn(1), false);
  static_cast<void>(window.report());
  window.mark(UnwrappedPsn(400), false);
  const auto bitmap = window.report();
  EXPECT_GT(bitmap.base.raw() + 64, 400) << "the only one that has not been reported";
}

// MRC 7.5.2.2 (REL-29): the rule itself, whatever arrives in which order.
TEST(ArrivalWindow, EveryReportHasTheLowestPacketThatNoneHadBefore) {
  for (const std::uint8_t mpr : kMprs) {
    SCOPED_TRACE(static_cast<int>(mpr));
    ArrivalWindow window(mpr, UnwrappedPsn(kBelowWrap));
    Model model{.expected = kBelowWrap};
    Rng rng(200u + mpr);
    for (int i = 0; i < 20'000; ++i) {
      const std::int64_t psn = draw_new(model, window.range(), rng);
      model.mark(psn, false);
      window.mark(UnwrappedPsn(psn), false);
      if (!rng.chance({1, 2})) continue;
      const auto bitmap = window.report();
      const std::size_t before = model.unreported.size();
      const std::int64_t lowest = before == 0 ? model.end() : *model.unreported.begin();
      model.reported(bitmap);
      if (before == 0) continue;
      ASSERT_FALSE(model.unreported.contains(lowest))
          << lowest << " is in no SACK, base " << bitmap.base.raw() << " expected "
          << model.expected << " end " << model.end();
    }
  }
}

// MRC 7.4.6 (REL-31)
TEST(ArrivalWindow, TellingGapsDoesNotCountAsReporting) {
  ArrivalWindow window(8, UnwrappedPsn(0));
  for (std::int64_t psn = 1; psn <= 100; ++psn) window.mark(UnwrappedPsn(psn), false);
  EXPECT_EQ(window.report_gaps().bits, ~std::uint64_t{1});
  EXPECT_EQ(window.report_gaps().base.raw(), 0);
  EXPECT_LE(window.report().base.raw(), 1) << "nothing has been reported before";
}

TEST(ArrivalWindowDeathTest, RefusesWhatIsNotANewPacket) {
#ifdef OPENMRC_DEBUG_CHECKS
  ArrivalWindow window(1, UnwrappedPsn(10));
  window.mark(UnwrappedPsn(12), false);
  EXPECT_DEATH(window.mark(UnwrappedPsn(9), false), "a new packet");
  EXPECT_DEATH(window.mark(UnwrappedPsn(12), false), "a new packet");
  EXPECT_DEATH(window.mark(UnwrappedPsn(10 + 128), false), "a new packet");
#else
  GTEST_SKIP() << "checked in debug builds only";
#endif
}

}  // namespace
}  // namespace openmrc::core
