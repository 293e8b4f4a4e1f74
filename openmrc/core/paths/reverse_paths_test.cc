// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/reverse_paths.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "openmrc/base/rng.h"

namespace openmrc::core {
namespace {

constexpr PlaneMask kAllPorts = PlaneMask::all();
constexpr std::uint8_t kPlanes = 4;
constexpr std::uint8_t kEvsPerPlane = 8;

EvIndex ev_of(Plane plane, unsigned place) {
  return EvIndex(static_cast<std::uint8_t>(plane.raw() * kEvsPerPlane + place));
}
constexpr Plane kPlane0{0};
constexpr Plane kPlane1{1};
constexpr Duration kRtt = microseconds(10);

class ReversePathsTest : public testing::Test {
 protected:
  PathSet::Choice choose(PlaneMask ports) {
    const auto choice = reverse_.choose(now_, paths_, ports, silent_);
    EXPECT_TRUE(choice);
    if (!choice) return {};
    EXPECT_TRUE(ports.has(choice->plane));
    EXPECT_EQ(profile_.entry(choice->ev).plane, choice->plane);
    return *choice;
  }
  // The EVs that control packets in the plane take.
  std::set<EvIndex> used(Plane plane) {
    std::set<EvIndex> evs;
    for (int i = 0; i < 2 * kEvsPerPlane; ++i) evs.insert(choose(PlaneMask::only(plane)).ev);
    return evs;
  }
  std::array<int, kPlanes> count_planes(PlaneMask ports, int packets) {
    std::array<int, kPlanes> counts{};
    for (int i = 0; i < packets; ++i) ++counts[choose(ports).plane.raw()];
    return counts;
  }
  void fail(Plane plane) { take_out(plane, EvInput::kLost); }
  void deny(Plane plane) { take_out(plane, EvInput::kDeny); }
  void take_out(Plane plane, EvInput input) {
    for (unsigned i = 0; i < kEvsPerPlane; ++i) {
      paths_.apply(ev_of(plane, i), input, {}, {});
      reverse_.forget(ev_of(plane, i), plane);
    }
  }
  void confirm(EvIndex ev, Plane plane) { reverse_.confirm(ev, plane, now_, kRtt); }
  std::set<EvIndex> all(Plane plane) {
    std::set<EvIndex> evs;
    for (unsigned i = 0; i < kEvsPerPlane; ++i) evs.insert(ev_of(plane, i));
    return evs;
  }

  EvProfile profile_ =
      EvProfile::simple({.planes = kPlanes, .evs_per_plane = kEvsPerPlane, .seed = 1});
  PathSet paths_{profile_, 1};
  ReversePaths reverse_{kPlanes};
  PlaneMask silent_;
  Instant now_{1'000'000};
};

// PATH-69
TEST_F(ReversePathsTest, TakesThePlanesInTurn) {
  EXPECT_EQ(count_planes(kAllPorts, 40), (std::array{10, 10, 10, 10}));
  EXPECT_EQ(count_planes(PlaneMask(0b0101), 40), (std::array{20, 0, 20, 0}));
}

// A host sends what has one path at once. PATH-69
TEST_F(ReversePathsTest, AsManyPacketsAsABurstTakeOnePathAtOneMoment) {
  constexpr std::uint8_t kBurst = 3;
  reverse_ = ReversePaths(kPlanes, kBurst);
  for (std::uint8_t plane = 0; plane < 2; ++plane) {
    confirm(ev_of(Plane(plane), 1), Plane(plane));
    confirm(ev_of(Plane(plane), 2), Plane(plane));
  }
  constexpr PlaneMask kBoth(0b0011);
  std::set<EvIndex> evs;
  for (int bursts = 0; bursts < 4; ++bursts) {
    const EvIndex first = choose(kBoth).ev;
    for (int i = 1; i < kBurst; ++i) EXPECT_EQ(choose(kBoth).ev, first);
    evs.insert(first);
  }
  EXPECT_EQ(evs.size(), 4U) << "planes take turns, and so do their EVs";
  // Another moment, a port that is busy, a path that is disabled: each ends a burst.
  const PathSet::Choice before = choose(kBoth);
  now_ = now_ + nanoseconds(1);
  EXPECT_NE(choose(kBoth).plane, before.plane);
  const PathSet::Choice later = choose(kBoth);
  EXPECT_NE(choose(PlaneMask(kBoth.bits() & ~PlaneMask::only(later.plane).bits())).plane,
            later.plane);
  const PathSet::Choice last = choose(kBoth);
  reverse_.forget(last.ev, last.plane);
  EXPECT_NE(choose(kBoth).ev, last.ev);
}

// PATH-73
TEST_F(ReversePathsTest, PacketsOfASearchTakeAnotherPathEach) {
  reverse_ = ReversePaths(kPlanes, 8);
  EXPECT_EQ(used(kPlane1), all(kPlane1));
}

TEST_F(ReversePathsTest, ThereIsNoPathWithoutAPort) {
  for (const PlaneMask none : {PlaneMask(0), PlaneMask(0xf0)}) {  // ports beyond the planes
    EXPECT_FALSE(reverse_.choose(now_, paths_, none, {}));
    EXPECT_FALSE(reverse_.search(paths_, none));
  }
}

// What is known of disabled paths may be wrong: an answer to a probe can be lost on its way back.
// PATH-73
TEST_F(ReversePathsTest, TakesAllPathsInTurnUntilOneIsSeenToWork) {
  for (unsigned i = 1; i < kEvsPerPlane; ++i) {
    paths_.apply(ev_of(kPlane1, i), EvInput::kLost, {}, {});
  }
  EXPECT_TRUE(reverse_.is_searching(kPlane1, now_));
  std::set<EvIndex> evs;
  for (unsigned i = 0; i < kEvsPerPlane; ++i) evs.insert(choose(PlaneMask::only(kPlane1)).ev);
  EXPECT_EQ(evs, all(kPlane1));
}

// PATH-73
TEST_F(ReversePathsTest, ASearchLeavesOutDeniedPaths) {
  paths_.apply(ev_of(kPlane1, 3), EvInput::kDeny, {}, {});
  EXPECT_EQ(used(kPlane1).size(), kEvsPerPlane - 1u);
  EXPECT_FALSE(used(kPlane1).contains(ev_of(kPlane1, 3)));
}

// MRC 9.3.1 (PATH-68)
TEST_F(ReversePathsTest, WhatWasSeenToWorkIsTrustedForThreeTurnsOfProbes) {
  confirm(ev_of(kPlane1, 1), kPlane1);
  confirm(ev_of(kPlane1, 2), kPlane1);
  now_ = now_ + kRtt * (3 * kPlanes);
  EXPECT_FALSE(reverse_.is_searching(kPlane1, now_));
  EXPECT_EQ(used(kPlane1), (std::set{ev_of(kPlane1, 1), ev_of(kPlane1, 2)}));
  now_ = now_ + nanoseconds(1);
  EXPECT_TRUE(reverse_.is_searching(kPlane1, now_));
  EXPECT_EQ(used(kPlane1), all(kPlane1)) << "some of them may work";
  confirm(ev_of(kPlane1, 3), kPlane1);
  EXPECT_EQ(used(kPlane1), (std::set{ev_of(kPlane1, 3)})) << "nothing is known of the older ones";
}

// MRC 7.4.6 (PATH-74)
TEST_F(ReversePathsTest, AfterADoubtEverythingIsSearchedUntilOneIsSeenToWork) {
  confirm(ev_of(kPlane0, 1), kPlane0);
  confirm(ev_of(kPlane1, 1), kPlane1);
  reverse_.doubt(paths_);
  EXPECT_EQ(used(kPlane0), all(kPlane0));
  EXPECT_EQ(used(kPlane1), all(kPlane1));
  confirm(ev_of(kPlane1, 2), kPlane1);
  EXPECT_EQ(used(kPlane0), all(kPlane0));
  EXPECT_EQ(used(kPlane1), (std::set{ev_of(kPlane1, 2)}));
}

TEST_F(ReversePathsTest, ASearchTakesThePlanesInTurnAndAnotherPathEachTime) {
  std::set<EvIndex> evs;
  for (int i = 0; i < kPlanes * kEvsPerPlane; ++i) {
    const auto choice = reverse_.search(paths_, kAllPorts);
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->plane.raw(), i % kPlanes);
    evs.insert(choice->ev);
  }
  EXPECT_EQ(evs.size(), std::size_t{kPlanes} * kEvsPerPlane);
}

TEST_F(ReversePathsTest, TheFirstPathThatIsConfirmedIsUsedAlone) {
  confirm(ev_of(kPlane1, 3), kPlane1);
  EXPECT_EQ(used(kPlane1), (std::set{ev_of(kPlane1, 3)}));
}

TEST_F(ReversePathsTest, ConfirmingOneAgainKeepsTheOther) {
  confirm(ev_of(kPlane1, 1), kPlane1);
  confirm(ev_of(kPlane1, 2), kPlane1);
  for (const unsigned again : {2u, 2u, 1u, 2u, 1u, 1u}) {
    confirm(ev_of(kPlane1, again), kPlane1);
    ASSERT_EQ(used(kPlane1), (std::set{ev_of(kPlane1, 1), ev_of(kPlane1, 2)}));
  }
}

TEST_F(ReversePathsTest, ForgetsAPathThatIsOutOfUse) {
  const EvIndex first = ev_of(kPlane1, 1);
  const EvIndex second = ev_of(kPlane1, 2);
  confirm(first, kPlane1);
  confirm(second, kPlane1);
  reverse_.forget(ev_of(kPlane1, 3), kPlane1);
  EXPECT_EQ(used(kPlane1), (std::set{first, second})) << "it was not one of them";
  reverse_.forget(second, kPlane1);
  EXPECT_EQ(used(kPlane1), (std::set{first}));
  confirm(second, kPlane1);
  reverse_.forget(first, kPlane1);
  EXPECT_EQ(used(kPlane1), (std::set{second}));

  reverse_.forget(second, kPlane1);
  EXPECT_TRUE(reverse_.is_searching(kPlane1, now_));
}

TEST_F(ReversePathsTest, NeverUsesAForgottenPath) {
  Rng rng(1);
  for (int i = 0; i < 5'000; ++i) {
    const Plane plane(static_cast<std::uint8_t>(rng.below(kPlanes)));
    const EvIndex ev = ev_of(plane, static_cast<unsigned>(rng.below(kEvsPerPlane)));
    if (rng.chance({1, 2})) {
      paths_.apply(ev, EvInput::kProbeClean, {}, {});
      confirm(ev, plane);
    } else {
      paths_.apply(ev, EvInput::kLost, {}, {});
      if (!is_usable(paths_.state(ev))) reverse_.forget(ev, plane);
    }
    const bool is_search = reverse_.is_searching(plane, now_);
    const auto choice = choose(PlaneMask::only(plane));
    ASSERT_TRUE(is_search || is_usable(paths_.state(choice.ev)));
  }
}

TEST_F(ReversePathsTest, LeavesOutAPlaneWithoutPathsWhileAnotherHasSome) {
  fail(kPlane1);
  EXPECT_EQ(count_planes(kAllPorts, 30), (std::array{10, 0, 10, 10}));
  EXPECT_EQ(choose(PlaneMask::only(kPlane1)).plane, kPlane1) << "better than silence";
  paths_.apply(ev_of(kPlane1, 4), EvInput::kProbeClean, {}, {});
  EXPECT_EQ(count_planes(kAllPorts, 40), (std::array{10, 10, 10, 10}));
}

TEST_F(ReversePathsTest, WithNoPathAtAllEveryPlaneIsTried) {
  for (std::uint8_t p = 0; p < kPlanes; ++p) deny(Plane(p));
  EXPECT_EQ(count_planes(kAllPorts, 40), (std::array{10, 10, 10, 10}));
}

// PATH-72
TEST_F(ReversePathsTest, LeavesOutSilentPlanesWhileThereAreOthers) {
  silent_.add(kPlane1);
  EXPECT_EQ(count_planes(kAllPorts, 30), (std::array{10, 0, 10, 10}));
  EXPECT_EQ(count_planes(PlaneMask::only(kPlane1), 5), (std::array{0, 5, 0, 0}));
  silent_ = PlaneMask::first(kPlanes);
  EXPECT_EQ(count_planes(kAllPorts, 40), (std::array{10, 10, 10, 10}));
}

}  // namespace
}  // namespace openmrc::core
