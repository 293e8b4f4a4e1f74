// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/reverse_probes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

namespace openmrc::core {
namespace {

constexpr PlaneMask kAllPorts = PlaneMask::all();
constexpr std::uint8_t kPlanes = 4;
constexpr std::uint8_t kEvsPerPlane = 8;
constexpr Plane kPlane0{0};
constexpr Plane kPlane1{1};

EvIndex ev_of(Plane plane, unsigned place) {
  return EvIndex(static_cast<std::uint8_t>(plane.raw() * kEvsPerPlane + place));
}

class ReverseProbesTest : public testing::Test {
 protected:
  void fail(EvIndex ev) { paths_.apply(ev, EvInput::kLost, {}, {}); }
  EvIndex probe(Plane plane) { return probes_.next(paths_, PlaneMask::only(plane))->ev; }
  // One other than `ev`, which stays disabled.
  EvIndex probe_another(Plane plane, EvIndex ev) {
    fail(ev);
    return probe(plane);
  }

  EvProfile profile_ =
      EvProfile::simple({.planes = kPlanes, .evs_per_plane = kEvsPerPlane, .seed = 1});
  PathSet paths_{profile_, 1};
  ReverseProbes probes_{kPlanes};
};

// MRC 9.3.1
TEST_F(ReverseProbesTest, TakesThePlanesInTurn) {
  std::array<int, kPlanes> counts{};
  for (int i = 0; i < 40; ++i) {
    const auto probe = probes_.next(paths_, kAllPorts);
    ASSERT_TRUE(probe);
    ASSERT_EQ(profile_.entry(probe->ev).plane, probe->plane);
    ++counts[probe->plane.raw()];
  }
  EXPECT_EQ(counts, (std::array{10, 10, 10, 10}));
}

TEST_F(ReverseProbesTest, ThereIsNoneWithoutAPort) {
  EXPECT_FALSE(probes_.next(paths_, PlaneMask(0)));
  EXPECT_FALSE(probes_.next(paths_, PlaneMask(0xf0))) << "ports beyond the planes";
}

// PATH-70
TEST_F(ReverseProbesTest, TakesGoodPathsAtRandom) {
  fail(ev_of(kPlane0, 0));
  std::set<EvIndex> probed;
  for (int i = 0; i < 200; ++i) probed.insert(probe(kPlane0));
  EXPECT_EQ(probed.size(), kEvsPerPlane - 1u);
  EXPECT_FALSE(probed.contains(ev_of(kPlane0, 0)));
  for (unsigned i = 1; i < kEvsPerPlane; ++i) fail(ev_of(kPlane0, i));
  EXPECT_FALSE(probes_.next(paths_, PlaneMask::only(kPlane0)));
}

// PATH-72
TEST_F(ReverseProbesTest, APlaneWithoutAnswersIsSilentUntilOneComes) {
  (void)probe(kPlane1);
  (void)probe(kPlane1);
  EXPECT_TRUE(probes_.silent().empty()) << "the answer of the second may be on its way";
  (void)probe(kPlane1);
  EXPECT_EQ(probes_.silent().bits(), PlaneMask::only(kPlane1).bits());
  probes_.confirm(kPlane1);
  EXPECT_TRUE(probes_.silent().empty());
  for (int i = 0; i < 20; ++i) {
    (void)probe(kPlane1);
    (void)probe(kPlane1);
    ASSERT_TRUE(probes_.silent().empty()) << "an answer now and then is enough";
    probes_.confirm(kPlane1);
  }
}

// PATH-71
TEST_F(ReverseProbesTest, AProbeIsMissingIfALaterOneOfItsPlaneIsAnswered) {
  const EvIndex first = probe(kPlane1);
  (void)probe(kPlane0);
  const EvIndex second = probe_another(kPlane1, first);
  EXPECT_EQ(probes_.answered(second, kPlane1), first);
  EXPECT_EQ(probes_.answered(second, kPlane1), std::nullopt) << "told once";
}

TEST_F(ReverseProbesTest, NoneIsMissingIfAllAreAnswered) {
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(probes_.answered(probe(kPlane1), kPlane1), std::nullopt);
  }
}

TEST_F(ReverseProbesTest, AnAnswerThatComesBeforeThatOfTheNextIsNotLate) {
  const EvIndex first = probe(kPlane1);
  const EvIndex second = probe_another(kPlane1, first);
  EXPECT_EQ(probes_.answered(first, kPlane1), std::nullopt);
  EXPECT_EQ(probes_.answered(second, kPlane1), std::nullopt);
}

TEST_F(ReverseProbesTest, OfSeveralUnansweredOnesTheLatestIsMissing) {
  // The answers to all may have been lost, on their way back.
  EvIndex last = probe(kPlane1);
  EvIndex before = last;
  for (int i = 0; i < 4; ++i) before = std::exchange(last, probe_another(kPlane1, last));
  EXPECT_EQ(probes_.answered(last, kPlane1), before);
}

}  // namespace
}  // namespace openmrc::core
