// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/profiles/ev_profile_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "openmrc/agent/profiles/test_profiles.h"

namespace openmrc::libmrc {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

constexpr auto kOffline = MRC_CTL_PROFILE_OFFLINE;
constexpr auto kOnline = MRC_CTL_PROFILE_ONLINE;
constexpr auto kInit = MRC_CTL_PROFILE_INIT;
constexpr core::EvField kByte{.width = 16, .init = 0, .min = 0, .max = 0xff, .mask = 0xff};

// Two ports, a list of four EVs: {1..4}, by ports in turn.
struct Listed : ::testing::Test {
  Listed() {
    device.make_format(MRC_CTL_EV_FMT_MODE_STEV, {16, 16});
    device.make_profile(MRC_CTL_EV_MODE_EXP, 4, {});
  }
  void fill() { device.profile({.edits = {{put(kOne), put(kTwo), put(kThree), put(kFour)}}}); }
  [[nodiscard]] mrc_ctl_ev_state state_of(const EvKey& key) const {
    std::vector<EvStatus> asked{{.ev = key}};
    EXPECT_TRUE(device.store.evs().query_states(kProfile, asked).ok());
    return asked[0].state;
  }
  [[nodiscard]] std::size_t count_of(const EvKey& key) const {
    return static_cast<std::size_t>(
        std::ranges::count(device.store.evs().find(kProfile).evs, key, &EvStatus::ev));
  }

  const EvKey kOne = ev({1}, 1);
  const EvKey kTwo = ev({2}, 2);
  const EvKey kThree = ev({3}, 1);
  const EvKey kFour = ev({4}, 2);
  TestDevice device{2};
};

TEST(EvProfile, LivesStepByStep) {
  TestDevice device(2);
  device.make_format(MRC_CTL_EV_FMT_MODE_STEV, {16, 16});
  EXPECT_EQ(device.store.evs().find(kProfile).state, kInit);
  EXPECT_EQ(device.profile({.state = kOnline}), EINVAL);
  EXPECT_EQ(device.profile({.state = kOffline}), EINVAL) << "no mode";
  EXPECT_EQ(device.profile({.mode = static_cast<mrc_ctl_ev_mode>(3)}), EINVAL);
  EXPECT_EQ(device.profile({.state = kOffline, .mode = MRC_CTL_EV_MODE_GEN}), EINVAL);
  EXPECT_EQ(device.profile({.mode = MRC_CTL_EV_MODE_GEN, .format = kFormat}), 0);
  EXPECT_EQ(device.profile({.state = kOffline, .count = 4}), EINVAL) << "no fields";
  EXPECT_EQ(device.profile({.state = kOffline, .count = 4, .fields = {{kByte}}}), 0);
  EXPECT_EQ(device.profile({.state = kOnline}), EINVAL) << "no ev_min_active";
  EXPECT_EQ(device.profile({.state = kOnline, .min_active = 1}), EINVAL) << "no ev_event_mask";
  EXPECT_EQ(device.store.evs().paths(kProfile), nullptr);
  EXPECT_EQ(device.profile({.state = kOnline, .min_active = 1, .event_mask = 3}), 0);
  EXPECT_NE(device.store.evs().paths(kProfile), nullptr);
  EXPECT_EQ(device.profile({.state = kInit}), EINVAL) << "two steps";
  EXPECT_EQ(device.profile({.state = kOffline, .expected_state = kOffline}), EINVAL);
  EXPECT_EQ(device.profile({.state = kOffline, .expected_state = kOnline}), 0);
  EXPECT_EQ(device.store.evs().paths(kProfile), nullptr);
  EXPECT_EQ(device.profile({.state = kInit}), 0);
  EXPECT_TRUE(device.store.evs().all().empty());
}

TEST(EvProfile, FieldsKeepToTheFormat) {
  TestDevice device(1);
  device.make_format(MRC_CTL_EV_FMT_MODE_STEV, {16, 8});
  const auto with = [&](std::vector<core::EvField> fields) {
    return device.make_profile(MRC_CTL_EV_MODE_GEN, 4, std::move(fields));
  };
  const core::EvField fixed{.width = 8, .init = 0xab};
  EXPECT_EQ(with({kByte, fixed, fixed}), EINVAL) << "more fields than slots";
  EXPECT_EQ(with({{.width = 16, .max = 1, .mask = 1}, {.width = 9}}), EINVAL) << "wider together";
  EXPECT_EQ(with({{.width = 8, .max = 1, .mask = 1}, {.width = 16}}), EINVAL) << "wider than slot";
  EXPECT_EQ(with({{.width = 33, .max = 1, .mask = 1}}), EINVAL);
  EXPECT_EQ(with({{.width = 8, .init = 0x100, .max = 1, .mask = 1}}), EINVAL) << "init";
  EXPECT_EQ(with({{.width = 8, .max = 1, .mask = 0x100}}), EINVAL) << "mask";
  EXPECT_EQ(with({{.width = 8, .max = 4, .mask = 0x3}}), EINVAL) << "max";
  EXPECT_EQ(with({{.width = 8, .min = 3, .max = 2, .mask = 0x3}}), EINVAL) << "min";
  EXPECT_EQ(with({kByte, fixed}), 0) << device.last.why;
}

TEST(EvProfile, NeedsAFormatThatHasFields) {
  TestDevice device(1);
  EXPECT_EQ(device.make_profile(MRC_CTL_EV_MODE_GEN, 4, {kByte}), EINVAL);
  device.format({.state = kOffline, .mode = MRC_CTL_EV_FMT_MODE_STEV});
  EXPECT_EQ(device.make_profile(MRC_CTL_EV_MODE_GEN, 4, {kByte}), EINVAL);
  device.format({.widths = {{16}}});
  EXPECT_EQ(device.make_profile(MRC_CTL_EV_MODE_GEN, 4, {kByte}), 0);
}

TEST_F(Listed, EventsTellOfTwoStates) {
  EXPECT_EQ(device.profile({.event_mask = MRC_CTL_EV_DENIED}), EINVAL);
  EXPECT_EQ(device.profile({.event_mask = MRC_CTL_EV_UNKNOWN}), EINVAL);
  EXPECT_EQ(device.profile({.event_mask = MRC_CTL_EV_GOOD | MRC_CTL_EV_ASSUMED_BAD}), 0);
}

TEST_F(Listed, KeepsNoMoreActiveThanThereAre) {
  EXPECT_EQ(device.profile({.min_active = 5}), EINVAL);
  EXPECT_EQ(device.profile({.min_active = 4}), 0);
}

TEST_F(Listed, EvsAndFieldsDoNotChangeTogether) {
  EXPECT_EQ(device.profile({.fields = {{kByte}}, .edits = {{put(kOne)}}}), EINVAL);
  EXPECT_EQ(count_of(kOne), 0);
}

TEST_F(Listed, GoesOnlineWhenItIsFull) {
  device.profile({.edits = {{put(kOne), put(kTwo), put(kThree)}}});
  EXPECT_EQ(device.go_online(), EINVAL);
  device.profile({.edits = {{put(kFour)}}});
  EXPECT_EQ(device.go_online(), 0);
  EXPECT_EQ(device.store.evs().paths(kProfile)->size(), 4);
}

TEST_F(Listed, LoadsItsPlanesEqually) {
  device.profile({.edits = {{put(kOne), put(kTwo), put(kThree), put(ev({5}, 1))}}});
  EXPECT_EQ(device.go_online(), EINVAL);
  EXPECT_EQ(device.profile({.edits = {{{.ev = ev({5}, 1), .replacement = kFour}}}}), 0);
  EXPECT_EQ(device.go_online(), 0);
}

TEST_F(Listed, AnEntryThatFailsEndsTheCallAndLeavesThoseBeforeIt) {
  const EvKey no_port = ev({9}, 3);
  EXPECT_EQ(device.profile({.edits = {{put(kOne), put(kTwo), put(no_port), put(kThree)}}}), EINVAL);
  EXPECT_EQ(device.last.entries_done, 2);
  EXPECT_EQ(count_of(kOne), 1);
  EXPECT_EQ(count_of(kTwo), 1);
  EXPECT_EQ(count_of(kThree), 0);
  EXPECT_EQ(count_of(kUnpopulated), 2);
}

TEST_F(Listed, AFailedEntryKeepsTheStateWhereItIs) {
  EXPECT_EQ(device.profile({.state = kOnline,
                            .min_active = 0,
                            .event_mask = 0,
                            .edits = {{put(kOne), put(ev({9}, 0))}}}),
            EINVAL);
  EXPECT_EQ(device.store.evs().find(kProfile).state, kOffline);
}

TEST_F(Listed, ReplacesOneCopyOrAll) {
  device.profile({.edits = {{put(kOne), put(kOne), put(kTwo), put(kFour)}}});
  EXPECT_EQ(count_of(kOne), 2);
  EXPECT_EQ(device.profile({.edits = {{{.ev = kOne, .replacement = kThree}}}}), 0);
  EXPECT_EQ(count_of(kOne), 1);
  device.profile({.edits = {{{.ev = kThree, .replacement = kOne}}}});
  EXPECT_EQ(device.profile({.edits = {{{.ev = kOne, .replacement = kThree, .all_copies = true}}}}),
            0);
  EXPECT_EQ(count_of(kOne), 0);
  EXPECT_EQ(count_of(kThree), 2);
}

TEST_F(Listed, MatchesValueAndPort) {
  fill();
  const EvKey wrong_port{.value = kOne.value, .port = PortNumber(2)};
  EXPECT_EQ(device.profile({.edits = {{{.ev = wrong_port, .replacement = kOne}}}}), ENOENT);
  EXPECT_EQ(device.profile({.edits = {{{.ev = wrong_port}}}}), ENOENT);
  EXPECT_EQ(device.profile({.edits = {{put(kOne)}}}), ENOENT) << "there is no free place";
}

TEST_F(Listed, EvsKeepToTheFields) {
  ASSERT_EQ(device.profile({.fields = {{kByte}}}), 0);
  EXPECT_EQ(device.profile({.edits = {{put(ev({1, 1}, 1))}}}), EINVAL) << "a bit behind the fields";
  EXPECT_EQ(device.profile({.edits = {{put(kOne)}}}), 0);
}

TEST_F(Listed, StatesAreThoseThatCanBeSet) {
  fill();
  EXPECT_EQ(device.profile({.edits = {{{.ev = kOne, .state = MRC_CTL_EV_UNKNOWN}}}}), EINVAL);
  EXPECT_EQ(device.profile({.edits = {{{.ev = kOne, .state = MRC_CTL_EV_DENIED}}}}), 0);
  EXPECT_EQ(state_of(kOne), MRC_CTL_EV_DENIED);
  EXPECT_EQ(state_of(kTwo), MRC_CTL_EV_GOOD);
  EXPECT_TRUE(device.changed.empty()) << "nobody uses it yet";
}

TEST_F(Listed, OnlineOnlyStatesChange) {
  fill();
  ASSERT_EQ(device.go_online(), 0);
  EXPECT_EQ(device.profile({.count = 8}), EINVAL);
  EXPECT_EQ(device.profile({.min_active = 1}), EINVAL);
  EXPECT_EQ(device.profile({.event_mask = 1}), EINVAL);
  EXPECT_EQ(device.profile({.fields = {{kByte}}}), EINVAL);
  EXPECT_EQ(device.profile({.edits = {{{.ev = kOne, .replacement = ev({7}, 1)}}}}), EINVAL);
  EXPECT_EQ(device.profile({.edits = {{{.ev = kOne, .state = MRC_CTL_EV_DENIED}}}}), 0);
  EXPECT_EQ(device.changed, (std::vector<EvStatus>{{kOne, MRC_CTL_EV_DENIED}}));
}

TEST_F(Listed, StaysOnlineWhileItIsUsed) {
  fill();
  EXPECT_EQ(device.store.evs().use(kProfile).error, EINVAL) << "not ONLINE";
  ASSERT_EQ(device.go_online(), 0);
  EXPECT_EQ(device.store.evs().use(kProfile).error, 0);
  EXPECT_EQ(device.store.evs().use(kProfile).error, 0);
  EXPECT_EQ(device.profile({.state = kOffline}), EBUSY);
  device.store.evs().release(kProfile);
  EXPECT_EQ(device.store.evs().uses(kProfile), 1);
  EXPECT_EQ(device.profile({.state = kOffline}), EBUSY);
  device.store.evs().release(kProfile);
  EXPECT_EQ(device.profile({.state = kOffline}), 0);
}

TEST_F(Listed, ReportsChangeStatesAndMakeEvents) {
  fill();
  EXPECT_FALSE(device.store.evs().report(kProfile, {kOne, MRC_CTL_EV_GOOD})) << "not ONLINE";
  ASSERT_EQ(device.go_online(0, MRC_CTL_EV_ASSUMED_BAD), 0);
  EXPECT_TRUE(device.store.evs().report(kProfile, {kOne, MRC_CTL_EV_ASSUMED_BAD}));
  EXPECT_EQ(state_of(kOne), MRC_CTL_EV_ASSUMED_BAD);
  EXPECT_FALSE(device.store.evs().report(kProfile, {kOne, MRC_CTL_EV_GOOD})) << "not in the mask";
  EXPECT_EQ(state_of(kOne), MRC_CTL_EV_GOOD);
  EXPECT_FALSE(device.store.evs().report(kProfile, {ev({9}, 1), MRC_CTL_EV_ASSUMED_BAD}));
  EXPECT_FALSE(device.store.evs().report(kProfile, {kOne, MRC_CTL_EV_DENIED}));
}

TEST_F(Listed, AReportLiftsNoDenial) {
  fill();
  ASSERT_EQ(device.go_online(), 0);
  device.profile({.edits = {{{.ev = kOne, .state = MRC_CTL_EV_DENIED}}}});
  device.store.evs().report(kProfile, {kOne, MRC_CTL_EV_GOOD});
  EXPECT_EQ(state_of(kOne), MRC_CTL_EV_DENIED);
}

TEST_F(Listed, QueriesStopAtAnEvThatIsNotThere) {
  fill();
  std::vector<EvStatus> asked{{.ev = kOne}, {.ev = ev({9}, 1)}, {.ev = kTwo}};
  const Outcome outcome = device.store.evs().query_states(kProfile, asked);
  EXPECT_EQ(outcome.error, ENOENT);
  EXPECT_EQ(outcome.entries_done, 1);
  EXPECT_EQ(asked[0].state, MRC_CTL_EV_GOOD);
}

TEST_F(Listed, AnApplicationExpandsWhatTheStoreExpanded) {
  fill();
  ASSERT_EQ(device.go_online(2), 0);
  const auto here = device.store.evs().paths(kProfile);
  const auto there = expand(device.store.evs().image(kProfile), 2);
  ASSERT_TRUE(there.has_value());
  EXPECT_TRUE(std::ranges::equal((*there)->entries(), here->entries()));
  EXPECT_EQ((*there)->min_active(), 2);
}

TEST(EvProfile, InInitHasNoEvsToEdit) {
  TestDevice device(1);
  EXPECT_EQ(device.profile({.mode = MRC_CTL_EV_MODE_EXP, .edits = {{put(ev({1}, 1))}}}), EINVAL);
  EXPECT_EQ(device.profile({.edits = {{{.ev = ev({1}, 1)}}}}), ENOENT);
}

}  // namespace
}  // namespace openmrc::libmrc
