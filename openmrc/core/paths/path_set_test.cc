// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/path_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "openmrc/base/rng.h"

namespace openmrc::core {
namespace {

constexpr PlaneMask kAllPorts = PlaneMask::all();

EvProfile make_profile(std::size_t planes, std::size_t evs_per_plane,
                       const EvProfileOptions& options = {}) {
  constexpr std::array kFields{
      EvField{.width = 16, .init = 0, .min = 0, .max = 0xffff, .mask = 0xffff},
      EvField{.width = 16, .init = 0, .min = 0, .max = 0xffff, .mask = 0xffff}};
  auto profile =
      EvProfile::generated({.format = {.mode = EvFormatMode::kStev, .slot_widths = {16, 16}},
                            .fields = kFields,
                            .count = planes * evs_per_plane,
                            .planes = planes,
                            .seed = 1,
                            .options = options});
  EXPECT_TRUE(profile) << to_string(profile.error());
  return *std::move(profile);
}

EvIndex ev_at(std::size_t index) { return EvIndex(static_cast<std::uint8_t>(index)); }
Plane plane_at(std::size_t index) { return Plane(static_cast<std::uint8_t>(index)); }

EvState apply(PathSet& paths, EvIndex ev, EvInput input) {
  return paths.apply(ev, input, Instant(1'000'000), microseconds(10));
}

std::vector<EvIndex> evs_of(const EvProfile& profile, Plane plane) {
  std::vector<EvIndex> evs;
  const auto range = profile.range(plane);
  for (std::size_t i = 0; i < range.count; ++i) evs.push_back(ev_at(range.first + i));
  return evs;
}

EvIndex choose_ev(PathSet& paths, std::optional<EvIndex> avoid = std::nullopt) {
  const auto choice = paths.choose(kAllPorts, avoid);
  EXPECT_TRUE(choice);
  return choice ? choice->ev : EvIndex{};
}

// The next `count` choices, which are a pass when all of a plane's active EVs are good.
std::vector<EvIndex> choose_many(PathSet& paths, std::size_t count) {
  std::vector<EvIndex> evs;
  for (std::size_t i = 0; i < count; ++i) evs.push_back(choose_ev(paths));
  return evs;
}

std::set<EvIndex> as_set(const std::vector<EvIndex>& evs) { return {evs.begin(), evs.end()}; }

TEST(PathSet, RoundRobinTakesTheSameOrderInEveryPassAndIgnoresMarks) {
  const EvProfile profile = make_profile(1, 8);
  PathSet paths(profile, 1, 1, PathPolicy::kRoundRobin);
  const auto first = choose_many(paths, 8);
  EXPECT_EQ(as_set(first).size(), 8U);
  for (const EvIndex ev : first) {
    apply(paths, ev, EvInput::kMarked);
    apply(paths, ev, EvInput::kTrimmed);
    EXPECT_EQ(paths.state(ev), EvState::kGood);
  }
  EXPECT_EQ(choose_many(paths, 8), first);
}

// Two sets with one seed: packets that are chosen for together take what each would have taken.
TEST(PathSet, ChoosesForManyAsForEach) {
  for (const PathPolicy policy : {PathPolicy::kSpray, PathPolicy::kRoundRobin}) {
    const EvProfile profile = make_profile(3, 8);
    PathSet singly(profile, 7, 1, policy);
    PathSet together(profile, 7, 1, policy);
    ASSERT_TRUE(together.chooses_singly());
    const PlaneMask ports(0b101);
    for (std::int64_t count = 1; count <= 20; ++count) {
      std::vector<PathSet::Choice> one;
      for (std::int64_t i = 0; i < count; ++i) one.push_back(*singly.choose(ports));
      std::size_t at = 0;
      together.choose_many(ports, count, [&](EvIndex ev, PathIndex path) {
        EXPECT_EQ(ev, one[at].ev);
        EXPECT_EQ(path, one[at].path);
        ++at;
      });
      ASSERT_EQ(at, one.size());
      for (PathSet* paths : {&singly, &together}) apply(*paths, one[0].ev, EvInput::kMarked);
    }
  }
}

TEST(PathSet, RoundRobinLeavesOutFailedPaths) {
  const EvProfile profile = make_profile(1, 4);
  PathSet paths(profile, 1, 1, PathPolicy::kRoundRobin);
  apply(paths, ev_at(2), EvInput::kLost);
  ASSERT_EQ(paths.state(ev_at(2)), EvState::kAssumedBad);
  EXPECT_EQ(as_set(choose_many(paths, 6)), as_set({ev_at(0), ev_at(1), ev_at(3)}));
}

// --- Planes ---

// MRC 9.3.2 (PATH-28)
TEST(PathSet, LoadsPlanesEquallyOverEveryPrefix) {
  for (const std::size_t planes : {1u, 2u, 3u, 4u, 8u, 31u}) {
    const EvProfile profile = make_profile(planes, 256 / planes > 5 ? 5 : 256 / planes);
    PathSet paths(profile, 7);
    std::vector<int> counts(planes);
    for (int i = 0; i < 500; ++i) {
      const auto choice = paths.choose(kAllPorts);
      ASSERT_TRUE(choice);
      ASSERT_EQ(profile.entry(choice->ev).plane, choice->plane);
      ++counts[choice->plane.raw()];
      const auto [least, most] = std::ranges::minmax(counts);
      ASSERT_LE(most - least, 1) << planes << " planes, packet " << i;
    }
  }
}

// MRC 9.3.2: what happens to paths inside the planes makes no difference.
TEST(PathSet, LoadsPlanesEquallyWhilePathsComeAndGo) {
  const EvProfile profile = make_profile(4, 8);
  PathSet paths(profile, 7);
  Rng rng(1);
  std::array<int, 4> counts{};
  for (int i = 0; i < 4'000; ++i) {
    const EvIndex ev = ev_at(rng.below(profile.size()));
    const auto range = profile.range(profile.entry(ev).plane);
    // The first EV of each plane stays, so that no plane falls out.
    if (ev.raw() != range.first) {
      constexpr std::array kInputs{EvInput::kLost, EvInput::kMarked, EvInput::kProbeClean,
                                   EvInput::kTrimmed};
      apply(paths, ev, kInputs[rng.below(kInputs.size())]);
    }
    ++counts[paths.choose(kAllPorts)->plane.raw()];
    const auto [least, most] = std::ranges::minmax(counts);
    ASSERT_LE(most - least, 1) << "packet " << i;
  }
}

// PATH-28
TEST(PathSet, LeavesOutPlanesWhosePortsAreBusy) {
  const EvProfile profile = make_profile(4, 3);
  PathSet paths(profile, 7);
  Rng rng(2);
  for (int i = 0; i < 2'000; ++i) {
    const PlaneMask ports(static_cast<std::uint32_t>(rng.below(16)));
    const auto choice = paths.choose(ports);
    ASSERT_EQ(choice.has_value(), !ports.empty());
    if (choice) {
      ASSERT_TRUE(ports.has(choice->plane));
    }
  }
  EXPECT_FALSE(paths.choose(PlaneMask(0xf0))) << "ports beyond the planes";
}

TEST(PathSet, TakesThePlanesOfTheMaskInTurn) {
  const EvProfile profile = make_profile(4, 3);
  PathSet paths(profile, 7);
  std::array<int, 4> counts{};
  for (int i = 0; i < 30; ++i) ++counts[paths.choose(PlaneMask(0b1011))->plane.raw()];
  EXPECT_EQ(counts, (std::array{10, 10, 0, 10}));
}

// PATH-28
TEST(PathSet, APlaneWithoutPathsIsNoLongerAmongItsPlanes) {
  const EvProfile profile = make_profile(3, 4);
  PathSet paths(profile, 7);
  const Plane lost = plane_at(1);
  for (const EvIndex ev : evs_of(profile, lost)) {
    EXPECT_TRUE(paths.planes().has(lost));
    apply(paths, ev, EvInput::kLost);
  }
  EXPECT_EQ(paths.planes(), PlaneMask(0b101));
  EXPECT_FALSE(paths.choose(PlaneMask::only(lost)));
  std::array<int, 3> counts{};
  for (int i = 0; i < 100; ++i) ++counts[paths.choose(kAllPorts)->plane.raw()];
  EXPECT_EQ(counts, (std::array{50, 0, 50}));
  EXPECT_FALSE(paths.any_good(lost));

  apply(paths, evs_of(profile, lost)[2], EvInput::kProbeClean);
  EXPECT_EQ(paths.planes(), PlaneMask(0b111));
  EXPECT_EQ(paths.choose(PlaneMask::only(lost))->ev, evs_of(profile, lost)[2]);
}

TEST(PathSet, WithoutAnyPathThereIsNoChoice) {
  const EvProfile profile = make_profile(2, 2);
  PathSet paths(profile, 7);
  for (std::size_t i = 0; i < profile.size(); ++i) apply(paths, ev_at(i), EvInput::kDeny);
  EXPECT_TRUE(paths.planes().empty());
  EXPECT_EQ(paths.usable(), 0u);
  EXPECT_FALSE(paths.choose(kAllPorts));
}

// --- Passes ---

// MRC 9.3.1 (PATH-29)
TEST(PathSet, ChoosesEveryActivePathOnceInEachPass) {
  for (const std::size_t evs : {1u, 2u, 7u, 64u}) {
    const EvProfile profile = make_profile(4, evs);
    PathSet paths(profile, 7);
    for (int pass = 0; pass < 20; ++pass) {
      EXPECT_EQ(as_set(choose_many(paths, profile.size())).size(), profile.size());
    }
  }
}

TEST(PathSet, TheLargestProfileWorks) {
  const EvProfile profile = make_profile(1, 256);
  PathSet paths(profile, 7);
  for (int pass = 0; pass < 3; ++pass) {
    EXPECT_EQ(as_set(choose_many(paths, 256)).size(), 256u);
  }
  EXPECT_EQ(paths.usable(), 256u);
}

// PATH-29
TEST(PathSet, DrawsANewOrderForEachPass) {
  const EvProfile profile = make_profile(1, 32);
  PathSet paths(profile, 7);
  std::set<std::vector<EvIndex>> orders;
  for (int pass = 0; pass < 100; ++pass) orders.insert(choose_many(paths, 32));
  EXPECT_EQ(orders.size(), 100u);
}

TEST(PathSet, EachPathIsEquallyLikelyToBeFirstInAPass) {
  const EvProfile profile = make_profile(1, 8);
  PathSet paths(profile, 7);
  std::map<EvIndex, int> first;
  constexpr int kPasses = 8'000;
  for (int pass = 0; pass < kPasses; ++pass) ++first[choose_many(paths, 8).front()];
  for (const auto& [ev, count] : first) {
    EXPECT_NEAR(count, kPasses / 8, 150) << ev.raw();  // five standard deviations
  }
}

TEST(PathSet, TheOrderFollowsFromTheSeed) {
  const EvProfile profile = make_profile(4, 16);
  PathSet a(profile, 7);
  PathSet same(profile, 7);
  PathSet other(profile, 8);
  const auto order = choose_many(a, 64);
  EXPECT_EQ(choose_many(same, 64), order);
  EXPECT_NE(choose_many(other, 64), order);
}

// PATH-30
TEST(PathSet, SendersUseDifferentActivePaths) {
  const EvProfile profile = make_profile(1, 64, {.active_per_plane = 8});
  std::set<std::set<EvIndex>> active;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    PathSet paths(profile, seed);
    active.insert(as_set(choose_many(paths, 8)));
  }
  EXPECT_EQ(active.size(), 20u);
}

// PATH-25
TEST(PathSet, APathThatFailsCostsNoOtherItsTurn) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const EvProfile profile = make_profile(1, 8);
    PathSet paths(profile, seed);
    const auto before = choose_many(paths, 5);
    apply(paths, before[2], EvInput::kLost);
    auto pass = as_set(before);
    for (const EvIndex ev : choose_many(paths, 3)) pass.insert(ev);
    ASSERT_EQ(pass.size(), 8u) << "one of eight missed the pass, seed " << seed;
  }
}

// --- SKIP ---

// MRC 11.2.2 (PATH-20, PATH-32)
TEST(PathSet, PassesOverASkippedPathOnceAndForgivesIt) {
  const EvProfile profile = make_profile(1, 8);
  PathSet paths(profile, 7);
  const EvIndex marked = choose_many(paths, 8)[3];
  EXPECT_EQ(apply(paths, marked, EvInput::kMarked), EvState::kGood);
  EXPECT_EQ(paths.state(marked), EvState::kSkip);
  EXPECT_EQ(paths.usable(), 8u) << "congestion is not failure";
  const auto pass = choose_many(paths, 7);
  EXPECT_EQ(as_set(pass).size(), 7u);
  EXPECT_FALSE(as_set(pass).contains(marked));
  // It is the cursor that forgives; at the end of the pass it may still be to come.
  const auto next = choose_many(paths, 8);
  EXPECT_EQ(paths.state(marked), EvState::kGood);
  EXPECT_GE(as_set(next).size(), 7u);
  EXPECT_TRUE(as_set(choose_many(paths, 16)).contains(marked));
}

std::map<EvIndex, EvState> states_of(const PathSet& paths) {
  std::map<EvIndex, EvState> states;
  for (std::size_t i = 0; i < paths.profile().size(); ++i) {
    states[ev_at(i)] = paths.state(ev_at(i));
  }
  return states;
}

// MRC 11.2.2 (PATH-32)
TEST(PathSet, DoesNotUseAForgivenPathForTheSamePacketIfThereIsAGoodOne) {
  const EvProfile profile = make_profile(1, 6);
  PathSet paths(profile, 7);
  Rng rng(4);
  for (int i = 0; i < 5'000; ++i) {
    for (auto left = rng.below(3); left > 0; --left) {
      apply(paths, ev_at(rng.below(6)), EvInput::kMarked);
    }
    const auto before = states_of(paths);
    const EvIndex chosen = choose_ev(paths);
    const bool any_good = std::ranges::any_of(
        before, [](const auto& entry) { return entry.second == EvState::kGood; });
    ASSERT_EQ(before.at(chosen), any_good ? EvState::kGood : EvState::kSkip);
  }
}

// MRC 11.2.2 (PATH-34)
TEST(PathSet, ChoosesEvenWhenAllAreToBeSkipped) {
  for (const std::size_t evs : {1u, 2u, 16u}) {
    const EvProfile profile = make_profile(1, evs);
    PathSet paths(profile, 7);
    for (std::size_t i = 0; i < evs; ++i) apply(paths, ev_at(i), EvInput::kMarked);
    const EvIndex chosen = choose_ev(paths);
    EXPECT_EQ(paths.state(chosen), EvState::kGood) << "it has missed its turn";
  }
}

// --- Failure and backups ---

// MRC 9.3.1 (PATH-38)
TEST(PathSet, AFailedPathIsReplacedByABackupOfTheSamePlane) {
  const EvProfile profile = make_profile(3, 8, {.active_per_plane = 4});
  PathSet paths(profile, 7);
  const auto before = as_set(choose_many(paths, 12));
  EXPECT_EQ(before.size(), 12u);
  const EvIndex failed = *std::next(before.begin(), 5);
  apply(paths, failed, EvInput::kLost);
  choose_many(paths, 12);  // the pass in which it happens
  const auto after = as_set(choose_many(paths, 24));
  EXPECT_EQ(after.size(), 12u);
  EXPECT_FALSE(after.contains(failed));
  std::vector<EvIndex> fresh;
  std::ranges::set_difference(after, before, std::back_inserter(fresh));
  ASSERT_EQ(fresh.size(), 1u);
  EXPECT_EQ(profile.entry(fresh[0]).plane, profile.entry(failed).plane);
}

TEST(PathSet, AFailedBackupReplacesNothing) {
  const EvProfile profile = make_profile(1, 4, {.active_per_plane = 2});
  PathSet paths(profile, 7);
  const auto active = as_set(choose_many(paths, 2));
  for (std::size_t i = 0; i < 4; ++i) {
    if (!active.contains(ev_at(i))) apply(paths, ev_at(i), EvInput::kLost);
  }
  EXPECT_EQ(paths.usable(), 2u);
  EXPECT_EQ(as_set(choose_many(paths, 2)), active);
  apply(paths, *active.begin(), EvInput::kLost);
  EXPECT_EQ(as_set(choose_many(paths, 4)), (std::set{*active.rbegin()}))
      << "no good backup is left";
}

// PATH-39
TEST(PathSet, AReadmittedPathStandsByWhenThePlaneIsComplete) {
  const EvProfile profile = make_profile(1, 4, {.active_per_plane = 2});
  PathSet paths(profile, 7);
  const EvIndex failed = choose_ev(paths);
  apply(paths, failed, EvInput::kLost);
  choose_many(paths, 2);
  const auto active = as_set(choose_many(paths, 4));
  EXPECT_EQ(apply(paths, failed, EvInput::kProbeClean), EvState::kAssumedBad);
  EXPECT_EQ(paths.state(failed), EvState::kGood);
  EXPECT_EQ(paths.usable(), 4u);
  EXPECT_EQ(as_set(choose_many(paths, 8)), active);
}

// PATH-39
TEST(PathSet, AReadmittedPathIsUsedAtOnceWhenThePlaneIsShort) {
  const EvProfile profile = make_profile(1, 4);
  PathSet paths(profile, 7);
  choose_many(paths, 1);
  apply(paths, ev_at(2), EvInput::kLost);
  choose_many(paths, 7);
  apply(paths, ev_at(2), EvInput::kProbeMarked);
  EXPECT_EQ(paths.state(ev_at(2)), EvState::kSkip);
  choose_many(paths, 4);
  EXPECT_EQ(as_set(choose_many(paths, 7)).size(), 4u) << "seven choices contain a whole pass";
}

// MRC 9.3.1 (PATH-26)
TEST(PathSet, NeverGivesUpPathsForLossBelowTheFloor) {
  const EvProfile profile = make_profile(2, 4, {.min_active = 3});
  PathSet paths(profile, 7);
  for (const EvInput input : {EvInput::kLost, EvInput::kAlwaysSkip}) {
    for (std::size_t i = 0; i < 8; ++i) apply(paths, ev_at(i), input);
  }
  EXPECT_EQ(paths.usable(), 3u);
  EXPECT_EQ(as_set(choose_many(paths, 100)).size(), 3u);
  for (std::size_t i = 5; i < 8; ++i) EXPECT_EQ(paths.state(ev_at(i)), EvState::kGood);
}

TEST(PathSet, APathThatTheFloorKeepsIsStillSkippedForCongestion) {
  const EvProfile profile = make_profile(1, 2, {.min_active = 2});
  PathSet paths(profile, 7);
  EXPECT_EQ(apply(paths, ev_at(0), EvInput::kLost), EvState::kGood);
  EXPECT_EQ(paths.state(ev_at(0)), EvState::kGood);
  apply(paths, ev_at(0), EvInput::kMarked);
  EXPECT_EQ(paths.state(ev_at(0)), EvState::kSkip);
}

// MRC 9.3.1 (PATH-26)
TEST(PathSet, TheControllersWordCountsMoreThanTheFloor) {
  const EvProfile profile = make_profile(1, 4, {.min_active = 4});
  PathSet paths(profile, 7);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(apply(paths, ev_at(i), EvInput::kDeny), EvState::kGood);
    EXPECT_EQ(paths.state(ev_at(i)), EvState::kDenied);
  }
  EXPECT_EQ(paths.usable(), 1u);
  EXPECT_EQ(as_set(choose_many(paths, 20)), (std::set{ev_at(3)}));
  apply(paths, ev_at(1), EvInput::kProbeClean);
  EXPECT_EQ(paths.state(ev_at(1)), EvState::kDenied) << "only the controller takes it back";
  apply(paths, ev_at(1), EvInput::kAllow);
  EXPECT_EQ(as_set(choose_many(paths, 20)), (std::set{ev_at(1), ev_at(3)}));
}

// --- Avoiding a path ---

// MRC 7.4.4 (PATH-36)
TEST(PathSet, DoesNotChooseThePathToAvoidIfItsPlaneHasAnother) {
  const EvProfile profile = make_profile(1, 2);
  PathSet paths(profile, 7);
  Rng rng(5);
  for (int i = 0; i < 2'000; ++i) {
    const EvIndex avoid = ev_at(rng.below(2));
    ASSERT_NE(choose_ev(paths, avoid), avoid);
    if (rng.chance({1, 3})) choose_many(paths, 1);
  }
}

// MRC 7.4.4 (PATH-36): also when the others were congested.
TEST(PathSet, DoesNotChooseThePathToAvoidIfTheOthersAreToBeSkipped) {
  for (const std::size_t evs : {2u, 3u, 8u}) {
    const EvProfile profile = make_profile(1, evs);
    PathSet paths(profile, 7);
    Rng rng(6);
    for (int i = 0; i < 2'000; ++i) {
      const EvIndex avoid = ev_at(rng.below(evs));
      for (std::size_t ev = 0; ev < evs; ++ev) {
        if (ev_at(ev) != avoid || rng.chance({1, 2})) apply(paths, ev_at(ev), EvInput::kMarked);
      }
      ASSERT_NE(choose_ev(paths, avoid), avoid) << evs << " EVs, packet " << i;
    }
  }
}

// PATH-36
TEST(PathSet, ChoosesThePathToAvoidIfItIsTheOnlyOne) {
  const EvProfile profile = make_profile(1, 1);
  PathSet paths(profile, 7);
  EXPECT_EQ(choose_ev(paths, ev_at(0)), ev_at(0));
  apply(paths, ev_at(0), EvInput::kMarked);
  EXPECT_EQ(choose_ev(paths, ev_at(0)), ev_at(0));
}

// --- All of it ---

TEST(PathSet, AnyGoodFindsEveryGoodPathOfThePlaneAndNoOther) {
  const EvProfile profile = make_profile(2, 8);
  PathSet paths(profile, 7);
  apply(paths, ev_at(9), EvInput::kLost);
  apply(paths, ev_at(10), EvInput::kMarked);
  apply(paths, ev_at(11), EvInput::kDeny);
  std::set<EvIndex> found;
  for (int i = 0; i < 500; ++i) found.insert(*paths.any_good(plane_at(1)));
  EXPECT_EQ(found, (std::set{ev_at(8), ev_at(12), ev_at(13), ev_at(14), ev_at(15)}));
}

TEST(PathSet, AnyGoodTakesAllGoodPathsEquallyOften) {
  const EvProfile profile = make_profile(1, 16);
  PathSet paths(profile, 7);
  for (std::size_t ev = 3; ev < 13; ++ev) apply(paths, ev_at(ev), EvInput::kLost);
  std::map<EvIndex, int> counts;
  for (int i = 0; i < 6'000; ++i) ++counts[*paths.any_good(plane_at(0))];
  ASSERT_EQ(counts.size(), 6u);
  for (const auto& [ev, count] : counts) EXPECT_NEAR(count, 1'000, 150) << ev.raw();
}

// Against the table of states: everything that can happen, in any order.
class RandomLife {
 public:
  explicit RandomLife(const EvProfile& profile, std::uint64_t seed)
      : profile_(profile),
        paths_(profile, seed),
        rng_(seed),
        states_(profile.size(), EvState::kGood) {}

  void step() {
    const EvIndex ev = ev_at(rng_.below(profile_.size()));
    const auto input = static_cast<EvInput>(rng_.below(kEvInputCount));
    if (input == EvInput::kRotation) return;  // that is the sender's own
    if (input == EvInput::kDeny && rng_.chance({2, 3})) return;
    EvState& state = states_[ev.raw()];
    const EvState before = state;
    const EvState after = next_state(before, input);
    const bool disables = after == EvState::kAssumedBad || after == EvState::kSuspect;
    if (!disables || !is_usable(before) ||
        usable() > std::max<std::size_t>(profile_.min_active(), 1)) {
      state = after;
    }
    ASSERT_EQ(apply(paths_, ev, input), before);
    forgive();
    ASSERT_NO_FATAL_FAILURE(expect_same());
  }

  void choose() {
    const PlaneMask ports(static_cast<std::uint32_t>(rng_.next()));
    const auto choice = paths_.choose(ports);
    ASSERT_EQ(choice.has_value(), !(ports & usable_planes()).empty());
    if (!choice) return;
    ASSERT_TRUE(ports.has(choice->plane));
    ASSERT_EQ(profile_.entry(choice->ev).plane, choice->plane);
    forgive();
    ASSERT_TRUE(is_usable(states_[choice->ev.raw()]));
    ASSERT_NO_FATAL_FAILURE(expect_same());
  }

  // A plane with n usable paths has min(n, active_per_plane) of them in rotation.
  void expect_rotation() {
    for (std::size_t p = 0; p < profile_.planes(); ++p) {
      const Plane plane = plane_at(p);
      std::size_t count = 0;
      for (const EvIndex ev : evs_of(profile_, plane)) {
        if (!is_usable(states_[ev.raw()])) continue;
        ++count;
      }
      std::set<EvIndex> used;
      for (std::size_t i = 0; i < 2 * Spray::kLevelMax * profile_.evs_per_plane(); ++i) {
        if (const auto choice = paths_.choose(PlaneMask::only(plane))) used.insert(choice->ev);
      }
      ASSERT_EQ(used.size(), std::min(count, profile_.active_per_plane())) << "plane " << p;
    }
    forgive();
  }

 private:
  // When a path is skipped no longer is the policy's business.
  void forgive() {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (is_usable(states_[i]) && is_usable(paths_.state(ev_at(i)))) {
        states_[i] = paths_.state(ev_at(i));
      }
    }
  }
  [[nodiscard]] unsigned usable() const {
    return static_cast<unsigned>(std::ranges::count_if(states_, is_usable));
  }
  [[nodiscard]] PlaneMask usable_planes() const {
    PlaneMask planes;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      if (is_usable(states_[i])) planes.add(profile_.entry(ev_at(i)).plane);
    }
    return planes;
  }
  void expect_same() const {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      ASSERT_EQ(paths_.state(ev_at(i)), states_[i]) << "EV " << i;
    }
    ASSERT_EQ(paths_.usable(), usable());
    ASSERT_EQ(paths_.planes(), usable_planes());
  }

  const EvProfile& profile_;
  PathSet paths_;
  Rng rng_;
  std::vector<EvState> states_;
};

// Two paths of a plane, with two EVs each.
EvProfile two_evs_for_each_path() {
  std::vector<PortedEv> evs;
  for (unsigned i = 0; i < 4; ++i) {
    PortedEv ev{.port = PortNumber(1)};
    ev.value[0] = static_cast<std::byte>(1 + i % 2);
    evs.push_back(ev);
  }
  auto profile = EvProfile::explicit_list(
      {.format = {.mode = EvFormatMode::kSrv6, .slot_widths = {16}}, .evs = evs});
  EXPECT_TRUE(profile) << to_string(profile.error());
  return *std::move(profile);
}

// MRC 9.3.5 (PATH-13, PATH-31)
TEST(PathSet, TheEvsOfAPathTakeTurnsAndShareItsFate) {
  const EvProfile profile = two_evs_for_each_path();
  PathSet paths(profile, 1);
  const std::vector<EvIndex> used = choose_many(paths, 4);
  EXPECT_EQ(std::set(used.begin(), used.end()).size(), 4U);
  EXPECT_NE(profile.path_of(used[0]), profile.path_of(used[1]));
  apply(paths, ev_at(0), EvInput::kMissing);
  apply(paths, ev_at(1), EvInput::kDeny);
  const std::vector states{paths.state(ev_at(0)), paths.state(ev_at(1)), paths.state(ev_at(2)),
                           paths.state(ev_at(3))};
  EXPECT_EQ(states,
            (std::vector{EvState::kSuspect, EvState::kDenied, EvState::kSuspect, EvState::kGood}))
      << "the controller's word is about one EV";
}

// MRC 9.3.1 (PATH-26): a path that loses packets is better than none.
TEST(PathSet, TheLastPathIsNeverGivenUpForLoss) {
  const EvProfile profile = make_profile(1, 4);
  PathSet paths(profile, 1);
  for (const EvIndex ev : evs_of(profile, plane_at(0))) apply(paths, ev, EvInput::kLost);
  EXPECT_EQ(paths.usable(), 1u);
  EXPECT_TRUE(paths.choose(PlaneMask::all()).has_value());
}

TEST(PathSet, AgreesWithTheTableOfStatesWhateverHappens) {
  for (const EvProfileOptions& options : {EvProfileOptions{},
                                          {.min_active = 4},
                                          {.active_per_plane = 3},
                                          {.min_active = 2, .active_per_plane = 1}}) {
    const EvProfile profile = make_profile(3, 5, options);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      RandomLife life(profile, seed);
      for (int i = 0; i < 1'000; ++i) {
        ASSERT_NO_FATAL_FAILURE(life.step()) << "seed " << seed << " step " << i;
        ASSERT_NO_FATAL_FAILURE(life.choose()) << "seed " << seed << " step " << i;
        if (i % 20 == 0) {
          ASSERT_NO_FATAL_FAILURE(life.expect_rotation()) << "seed " << seed << " step " << i;
        }
      }
    }
  }
}

// --- Bursts ---

// PATH-37
TEST(PathSet, KeepsToOnePathForABurst) {
  const EvProfile profile = make_profile(2, 8);
  PathSet paths(profile, 7, 4);
  std::optional<EvIndex> before;
  std::array<int, 2> planes{};
  for (int burst = 0; burst < 100; ++burst) {
    const auto first = paths.choose(kAllPorts);
    ++planes[first->plane.raw()];
    EXPECT_NE(first->ev, before) << "the planes take turns";
    for (int i = 1; i < 4; ++i) {
      ASSERT_TRUE(paths.in_burst());
      const auto next = paths.choose(kAllPorts);
      ASSERT_EQ(next->ev, first->ev);
      ASSERT_EQ(next->plane, first->plane);
    }
    ASSERT_FALSE(paths.in_burst());
    before = first->ev;
  }
  EXPECT_EQ(planes, (std::array{50, 50}));
}

// MRC 9.3.1: the order of paths is that of single packets.
TEST(PathSet, TakesEveryPathOnceInAPassOfBursts) {
  const EvProfile profile = make_profile(1, 16);
  PathSet paths(profile, 7, 3);
  for (int pass = 0; pass < 10; ++pass) {
    EXPECT_EQ(as_set(choose_many(paths, 16 * 3)).size(), 16u);
  }
}

TEST(PathSet, WithoutBurstsNoPathIsKept) {
  const EvProfile profile = make_profile(1, 8);
  PathSet paths(profile, 7);
  for (int pass = 0; pass < 10; ++pass) {
    EXPECT_EQ(as_set(choose_many(paths, 8)).size(), 8u);
    EXPECT_FALSE(paths.in_burst());
  }
}

// PATH-37
TEST(PathSet, ABurstEndsWhenSomethingSpeaksAgainstItsPath) {
  const EvProfile profile = make_profile(2, 8);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    PathSet paths(profile, seed, 64);
    const EvIndex lost = choose_ev(paths);
    apply(paths, lost, EvInput::kLost);
    const EvIndex marked = choose_ev(paths);
    EXPECT_NE(marked, lost);
    apply(paths, marked, EvInput::kMarked);
    const EvIndex avoided = choose_ev(paths);
    EXPECT_NE(avoided, marked);
    EXPECT_NE(choose_ev(paths, avoided), avoided);
    const auto busy = paths.choose(kAllPorts);
    const auto other = paths.choose(PlaneMask::only(plane_at(1 - busy->plane.raw())));
    EXPECT_NE(other->plane, busy->plane);
    EXPECT_EQ(choose_ev(paths), other->ev) << "the next burst goes on from there";
  }
}

TEST(PathSet, ABurstThatFindsNoPortBeginsAnew) {
  const EvProfile profile = make_profile(1, 8);
  PathSet paths(profile, 7, 8);
  const EvIndex first = choose_ev(paths);
  EXPECT_FALSE(paths.choose(PlaneMask(0)));
  EXPECT_FALSE(paths.in_burst());
  EXPECT_NE(choose_ev(paths), first) << "no path comes twice in a pass";
}

// MRC 7.4.6 (PATH-37)
TEST(PathSet, AProbeEndsTheBurst) {
  const EvProfile profile = make_profile(1, 8);
  PathSet paths(profile, 7, 8);
  (void)choose_ev(paths);
  EXPECT_TRUE(paths.in_burst());
  EXPECT_TRUE(paths.choose_for_probe(kAllPorts));
  EXPECT_FALSE(paths.in_burst());
  EXPECT_FALSE(paths.choose_for_probe(PlaneMask(0)));
}

// MRC 7.4.6 (PATH-75). Congested paths too: where only they are left alive, nothing else is heard.
TEST(PathSet, ProbesTakePlanesAndTheirUsablePathsInTurn) {
  const EvProfile profile = make_profile(2, 4);
  PathSet paths(profile, 7);
  paths.apply(EvIndex(0), EvInput::kLost, {}, {});
  paths.apply(EvIndex(1), EvInput::kLost, {}, {});
  for (int i = 0; i < 10; ++i) paths.apply(EvIndex(3), EvInput::kMarked, {}, {});
  std::vector<unsigned> probed;
  for (int i = 0; i < 8; ++i) probed.push_back(paths.choose_for_probe(kAllPorts)->ev.raw());
  EXPECT_EQ(probed, (std::vector<unsigned>{2, 4, 3, 5, 2, 6, 3, 7}));
}

}  // namespace
}  // namespace openmrc::core
