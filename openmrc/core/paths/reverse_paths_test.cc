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
    const auto choice = reverse_.choose(now_, paths_, ports);
    EXPECT_TRUE(choice);
    if (!choice) return {};
    EXPECT_TRUE(ports.has(choice->plane));
    EXPECT_EQ(profile_.entry(choice->ev).plane, choice->plane);
    return *choice;
  }
  // The EVs that control packets in the plane take.
  std::set<EvIndex> used(Plane plane) {
    std::set<EvIndex> evs;
    for (int i = 0; i < 6; ++i) evs.insert(choose(PlaneMask::only(plane)).ev);
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
      paths_.apply(ev_of(plane, i), input);
      reverse_.forget(ev_of(plane, i), plane);
    }
  }
  EvIndex probe(Plane plane) { return reverse_.next_probe(paths_, PlaneMask::only(plane))->ev; }
  // One other than `ev`, which stays disabled.
  EvIndex probe_another(Plane plane, EvIndex ev) {
    paths_.apply(ev, EvInput::kLost);
    return probe(plane);
  }
  void confirm(EvIndex ev, Plane plane) { reverse_.confirm(ev, plane, now_, kRtt); }
  void probe_without_answer(Plane plane, int times) {
    for (int i = 0; i < times; ++i) {
      const auto probe = reverse_.next_probe(paths_, PlaneMask::only(plane));
      ASSERT_TRUE(probe);
      EXPECT_EQ(probe->plane, plane);
    }
  }

  EvProfile profile_ =
      EvProfile::simple({.planes = kPlanes, .evs_per_plane = kEvsPerPlane, .seed = 1});
  PathSet paths_{profile_, 1};
  ReversePaths reverse_{kPlanes};
  Instant now_{1'000'000};
};

TEST_F(ReversePathsTest, TakesThePlanesInTurn) {
  EXPECT_EQ(count_planes(kAllPorts, 40), (std::array{10, 10, 10, 10}));
  EXPECT_EQ(count_planes(PlaneMask(0b0101), 40), (std::array{20, 0, 20, 0}));
}

TEST_F(ReversePathsTest, ThereIsNoPathWithoutAPort) {
  EXPECT_FALSE(reverse_.choose(now_, paths_, PlaneMask(0)));
  EXPECT_FALSE(reverse_.choose(now_, paths_, PlaneMask(0xf0))) << "ports beyond the planes";
  EXPECT_FALSE(reverse_.next_probe(paths_, PlaneMask(0)));
  EXPECT_FALSE(reverse_.next_probe(paths_, PlaneMask(0xf0)));
}

TEST_F(ReversePathsTest, TakesGoodPathsAtRandomUntilOneIsSeenToWork) {
  for (unsigned i = 0; i < kEvsPerPlane; ++i) {
    if (i != 5) paths_.apply(ev_of(kPlane1, i), EvInput::kLost);
  }
  EXPECT_EQ(used(kPlane1), (std::set{ev_of(kPlane1, 5)}));
  EXPECT_GE(used(kPlane0).size(), 3u);
}

// MRC 9.3.1
TEST_F(ReversePathsTest, WhatWasSeenToWorkIsTrustedForThreeTurnsOfProbes) {
  confirm(ev_of(kPlane1, 1), kPlane1);
  confirm(ev_of(kPlane1, 2), kPlane1);
  now_ = now_ + kRtt * (3 * kPlanes);
  EXPECT_EQ(used(kPlane1), (std::set{ev_of(kPlane1, 1), ev_of(kPlane1, 2)}));
  now_ = now_ + nanoseconds(1);
  EXPECT_GE(used(kPlane1).size(), 3u) << "some of them may work";
  confirm(ev_of(kPlane1, 3), kPlane1);
  EXPECT_EQ(used(kPlane1), (std::set{ev_of(kPlane1, 3)})) << "nothing is known of the older ones";
}

// MRC 9.3.1
TEST_F(ReversePathsTest, UsesTheTwoPathsThatWereLastSeenToWork) {
  for (unsigned i = 0; i < kEvsPerPlane; ++i) confirm(ev_of(kPlane1, i), kPlane1);
  EXPECT_EQ(used(kPlane1), (std::set{ev_of(kPlane1, 6), ev_of(kPlane1, 7)}));
  EXPECT_NE(choose(PlaneMask::only(kPlane1)).ev, choose(PlaneMask::only(kPlane1)).ev)
      << "one after the other";
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

  // Forgotten, they are drawn anew from what is good.
  reverse_.forget(second, kPlane1);
  for (const unsigned i : {1u, 2u}) paths_.apply(ev_of(kPlane1, i), EvInput::kLost);
  const auto fresh = used(kPlane1);
  EXPECT_GE(fresh.size(), 3u);
  EXPECT_FALSE(fresh.contains(first) || fresh.contains(second));
}

TEST_F(ReversePathsTest, NeverUsesAForgottenPath) {
  Rng rng(1);
  for (int i = 0; i < 5'000; ++i) {
    const Plane plane(static_cast<std::uint8_t>(rng.below(kPlanes)));
    const EvIndex ev = ev_of(plane, static_cast<unsigned>(rng.below(kEvsPerPlane)));
    if (rng.chance({1, 2})) {
      paths_.apply(ev, EvInput::kProbeClean);
      confirm(ev, plane);
    } else {
      paths_.apply(ev, EvInput::kLost);
      if (!is_usable(paths_.state(ev))) reverse_.forget(ev, plane);
    }
    const auto choice = choose(kAllPorts);
    ASSERT_TRUE(is_usable(paths_.state(choice.ev)) || !paths_.planes().has(choice.plane));
  }
}

TEST_F(ReversePathsTest, LeavesOutAPlaneWithoutPathsWhileAnotherHasSome) {
  fail(kPlane1);
  EXPECT_EQ(count_planes(kAllPorts, 30), (std::array{10, 0, 10, 10}));
  EXPECT_EQ(choose(PlaneMask::only(kPlane1)).plane, kPlane1) << "better than silence";
  paths_.apply(ev_of(kPlane1, 4), EvInput::kProbeClean);
  EXPECT_EQ(used(kPlane1), (std::set{ev_of(kPlane1, 4)}));
}

TEST_F(ReversePathsTest, WithNoPathAtAllEveryPlaneIsTried) {
  for (std::uint8_t p = 0; p < kPlanes; ++p) deny(Plane(p));
  EXPECT_EQ(count_planes(kAllPorts, 40), (std::array{10, 10, 10, 10}));
}

// MRC 9.3.1
TEST_F(ReversePathsTest, ProbesThePlanesInTurn) {
  std::array<int, kPlanes> counts{};
  for (int i = 0; i < 40; ++i) {
    const auto probe = reverse_.next_probe(paths_, kAllPorts);
    ASSERT_TRUE(probe);
    ASSERT_EQ(profile_.entry(probe->ev).plane, probe->plane);
    ++counts[probe->plane.raw()];
  }
  EXPECT_EQ(counts, (std::array{10, 10, 10, 10}));
}

TEST_F(ReversePathsTest, ProbesGoodPathsAtRandom) {
  paths_.apply(ev_of(kPlane0, 0), EvInput::kLost);
  std::set<EvIndex> probed;
  for (int i = 0; i < 200; ++i) {
    probed.insert(reverse_.next_probe(paths_, PlaneMask::only(kPlane0))->ev);
  }
  EXPECT_EQ(probed.size(), kEvsPerPlane - 1u);
  EXPECT_FALSE(probed.contains(ev_of(kPlane0, 0)));
  fail(kPlane0);
  EXPECT_FALSE(reverse_.next_probe(paths_, PlaneMask::only(kPlane0)));
}

TEST_F(ReversePathsTest, LeavesOutAPlaneWhoseProbesWentUnanswered) {
  probe_without_answer(kPlane1, 2);
  EXPECT_EQ(count_planes(kAllPorts, 40), (std::array{10, 10, 10, 10}))
      << "the second may be on its way";
  probe_without_answer(kPlane1, 1);
  EXPECT_EQ(count_planes(kAllPorts, 30), (std::array{10, 0, 10, 10}));
  EXPECT_EQ(count_planes(PlaneMask::only(kPlane1), 5), (std::array{0, 5, 0, 0}))
      << "there is no other";
}

TEST_F(ReversePathsTest, AnAnswerMakesThePlaneTrustedAgain) {
  probe_without_answer(kPlane1, 5);
  confirm(ev_of(kPlane1, 2), kPlane1);
  EXPECT_EQ(count_planes(kAllPorts, 40), (std::array{10, 10, 10, 10}));
  probe_without_answer(kPlane1, 2);
  EXPECT_EQ(count_planes(kAllPorts, 40), (std::array{10, 10, 10, 10})) << "it counts from 0 again";
}

TEST_F(ReversePathsTest, AnAnswerNowAndThenIsEnough) {
  for (int i = 0; i < 20; ++i) {
    probe_without_answer(kPlane1, 2);
    confirm(ev_of(kPlane1, 2), kPlane1);
    ASSERT_EQ(count_planes(kAllPorts, 4), (std::array{1, 1, 1, 1}));
  }
}

TEST_F(ReversePathsTest, WhenAllPlanesAreSuspectAllAreUsed) {
  for (std::uint8_t p = 0; p < kPlanes; ++p) probe_without_answer(Plane(p), 3);
  EXPECT_EQ(count_planes(kAllPorts, 40), (std::array{10, 10, 10, 10}));
}

// ---- probes that are lost ----

TEST_F(ReversePathsTest, AProbeIsLostIfALaterOneOfItsPlaneIsAnswered) {
  const EvIndex first = probe(kPlane1);
  (void)probe(kPlane0);
  const EvIndex second = probe_another(kPlane1, first);
  EXPECT_EQ(reverse_.answered(second, kPlane1), first);
  EXPECT_EQ(reverse_.answered(second, kPlane1), std::nullopt) << "told once";
}

TEST_F(ReversePathsTest, NoProbeIsLostIfAllAreAnswered) {
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(reverse_.answered(probe(kPlane1), kPlane1), std::nullopt);
  }
}

TEST_F(ReversePathsTest, AnAnswerThatComesBeforeThatOfTheNextIsNotLate) {
  const EvIndex first = probe(kPlane1);
  const EvIndex second = probe_another(kPlane1, first);
  EXPECT_EQ(reverse_.answered(first, kPlane1), std::nullopt);
  EXPECT_EQ(reverse_.answered(second, kPlane1), std::nullopt);
}

TEST_F(ReversePathsTest, OfSeveralUnansweredProbesTheLatestIsLost) {
  // The answers to all may have been lost, on their way back.
  EvIndex last = probe(kPlane1);
  EvIndex before = last;
  for (int i = 0; i < 4; ++i) before = std::exchange(last, probe_another(kPlane1, last));
  EXPECT_EQ(reverse_.answered(last, kPlane1), before);
}

TEST_F(ReversePathsTest, AfterAProbeWithoutAnswerThePathInUseIsAsked) {
  const EvIndex in_use = ev_of(kPlane1, 3);
  confirm(in_use, kPlane1);
  paths_.apply(in_use, EvInput::kMarked);  // so that no probe takes it by chance
  const EvIndex silent = probe(kPlane1);
  EXPECT_EQ(probe(kPlane1), in_use);
  EXPECT_EQ(reverse_.answered(in_use, kPlane1), silent);
  (void)probe(kPlane1);
  EXPECT_EQ(probe(kPlane1), in_use);
  EXPECT_NE(probe(kPlane1), in_use) << "it does not answer either";
}

}  // namespace
}  // namespace openmrc::core
