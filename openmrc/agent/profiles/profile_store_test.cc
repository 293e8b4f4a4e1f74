// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/profiles/profile_store.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "openmrc/agent/profiles/test_profiles.h"

namespace openmrc::libmrc {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

constexpr auto kOffline = MRC_CTL_PROFILE_OFFLINE;
constexpr auto kOnline = MRC_CTL_PROFILE_ONLINE;
constexpr auto kInit = MRC_CTL_PROFILE_INIT;

core::EvField whole(std::uint32_t width) {
  const auto all = static_cast<std::uint32_t>((std::uint64_t{1} << width) - 1);
  return {.width = width, .init = 0, .min = 0, .max = all, .mask = all};
}

// Three examples of the interface, calculated by hand.
TEST(WorkedExample, FlowLabelAndSourcePort) {
  TestDevice device(1);
  device.make_format(MRC_CTL_EV_FMT_MODE_STEV, {16, 16});
  ASSERT_EQ(device.make_profile(MRC_CTL_EV_MODE_EXP, 1,
                                {{.width = 16, .init = 0x1000, .max = 0xff, .mask = 0x0f0f},
                                 {.width = 12, .init = 0xa00, .max = 0xf, .mask = 0x03c}}),
            0);
  ASSERT_EQ(device.profile({.edits = {{put(ev({0xb7, 0xd0}, 1))}}}), 0);
  ASSERT_EQ(device.go_online(), 0) << device.last.why;
  EXPECT_EQ(device.store.evs().paths(kProfile)->entry(core::EvIndex(0)).ev, Ev(0x1b07'0a34));
}

TEST(WorkedExample, MicroSegments) {
  TestDevice device(1);
  device.make_format(MRC_CTL_EV_FMT_MODE_SRV6, {32, 16, 16, 16, 16});
  std::vector<core::EvField> fields{{.width = 32, .init = 0xfcbb'0001}};
  for (std::uint32_t k = 1; k <= 4; ++k) {
    fields.push_back({.width = 16, .init = k << 8, .min = 0, .max = 15, .mask = 0x000f});
  }
  ASSERT_EQ(device.make_profile(MRC_CTL_EV_MODE_EXP, 1, fields), 0) << device.last.why;
  ASSERT_EQ(device.profile({.edits = {{put(ev({0x1a, 0x2b}, 1))}}}), 0);
  ASSERT_EQ(device.go_online(), 0);
  EXPECT_EQ(to_string(device.store.evs().paths(kProfile)->entry(core::EvIndex(0)).outer),
            "fcbb:1:101:20a:302:40b::");
}

TEST(WorkedExample, ThreeTiers) {
  TestDevice device(1);
  device.make_format(MRC_CTL_EV_FMT_MODE_STEV, {8, 4, 4});
  ASSERT_EQ(device.make_profile(MRC_CTL_EV_MODE_EXP, 1, {whole(8), whole(4), whole(4)}), 0);
  ASSERT_EQ(device.profile({.edits = {{put(ev({0x5e, 0xc4}, 1))}}}), 0);
  ASSERT_EQ(device.go_online(), 0);
  EXPECT_EQ(device.store.evs().paths(kProfile)->entry(core::EvIndex(0)).ev, Ev(0x5ec4'0000));
}

TEST(GeneratedProfile, IsClampedToWhatAProfileHolds) {
  for (const std::size_t planes : {std::size_t{1}, std::size_t{3}, std::size_t{8}}) {
    TestDevice device(planes);
    device.make_format(MRC_CTL_EV_FMT_MODE_STEV, {8, 4, 4});
    ASSERT_EQ(device.make_profile(MRC_CTL_EV_MODE_GEN, 65536, {whole(8), whole(4), whole(4)}), 0);
    const std::size_t expected = 256 / planes * planes;
    ASSERT_EQ(device.store.evs().find(kProfile).evs.size(), expected);
    ASSERT_EQ(device.go_online(), 0);
    const auto paths = device.store.evs().paths(kProfile);
    EXPECT_EQ(paths->evs_per_plane(), expected / planes);
    std::set<EvKey> different;
    for (const EvStatus& each : device.store.evs().find(kProfile).evs) different.insert(each.ev);
    EXPECT_EQ(different.size(), expected);
  }
}

TEST(GeneratedProfile, HasNoMoreEvsThanItsFieldsGive) {
  TestDevice device(4);
  device.make_format(MRC_CTL_EV_FMT_MODE_STEV, {16, 16});
  const core::EvField eleven{.width = 16, .init = 0, .min = 5, .max = 15, .mask = 0xf};
  ASSERT_EQ(device.make_profile(MRC_CTL_EV_MODE_GEN, 64, {eleven}), 0);
  EXPECT_EQ(device.store.evs().find(kProfile).evs.size(), 8);  // 11, a multiple of 4
}

TEST(GeneratedProfile, NeedsFieldsAndOneEvForEachPort) {
  TestDevice device(4);
  device.make_format(MRC_CTL_EV_FMT_MODE_STEV, {16, 16});
  EXPECT_EQ(device.make_profile(MRC_CTL_EV_MODE_GEN, 64, {}), EINVAL);
  const core::EvField three{.width = 16, .init = 0, .min = 1, .max = 3, .mask = 0xf};
  EXPECT_EQ(device.make_profile(MRC_CTL_EV_MODE_GEN, 64, {three}), EINVAL);
  EXPECT_EQ(device.make_profile(MRC_CTL_EV_MODE_GEN, 0, {whole(16)}), EINVAL);
}

TEST(ExplicitProfile, Spreads256EvsOver8Planes) {
  TestDevice device(8);
  device.make_format(MRC_CTL_EV_FMT_MODE_STEV, {16, 16});
  ASSERT_EQ(device.make_profile(MRC_CTL_EV_MODE_EXP, 256, {}), 0);
  std::vector<EvEdit> edits;
  for (std::size_t i = 0; i < 256; ++i) {
    edits.push_back(put(ev({0x10, 0x00, 0xc0, static_cast<std::uint8_t>(i)}, i % 8 + 1)));
  }
  ASSERT_EQ(device.profile({.edits = edits}), 0);
  EXPECT_EQ(device.last.entries_done, 256);
  ASSERT_EQ(device.go_online(8), 0) << device.last.why;
  const auto paths = device.store.evs().paths(kProfile);
  EXPECT_EQ(paths->planes(), 8);
  EXPECT_EQ(paths->evs_per_plane(), 32);
  EXPECT_EQ(paths->min_active(), 8);
  EXPECT_EQ(paths->entry(core::EvIndex(32)).ev, Ev(0x1000'c001));  // the first of plane 1
  EXPECT_EQ(places_of(*paths, ev({0x10, 0x00, 0xc0, 0x01}, 2)), std::vector{core::EvIndex(32)});
  EXPECT_TRUE(places_of(*paths, ev({0x10, 0x00, 0xc0, 0x01}, 1)).empty());
}

TEST(ExplicitProfile, HasAMultipleOfTheAlignment) {
  TestDevice device(8);
  device.make_format(MRC_CTL_EV_FMT_MODE_STEV, {16, 16});
  EXPECT_EQ(device.make_profile(MRC_CTL_EV_MODE_EXP, 0, {}), EINVAL);
  EXPECT_EQ(device.make_profile(MRC_CTL_EV_MODE_EXP, 12, {}), EINVAL);
  EXPECT_EQ(device.make_profile(MRC_CTL_EV_MODE_EXP, 264, {}), E2BIG);
  EXPECT_EQ(device.make_profile(MRC_CTL_EV_MODE_EXP, 16, {}), 0);
}

TEST(AutoProfile, NeedsNothingButItsMode) {
  TestDevice device(2);
  ASSERT_EQ(device.profile({.state = kOffline, .mode = MRC_CTL_EV_MODE_AUTO}), 0);
  ASSERT_EQ(device.profile({.state = kOnline}), 0);
  EXPECT_EQ(device.store.evs().paths(kProfile)->size(), 16);
  EXPECT_EQ(device.store.evs().find(kProfile).evs.size(), 16);
  EXPECT_EQ(device.profile({.edits = {{{.ev = ev({1}, 1)}}}}), ENOENT);
  const EvKey known = device.store.evs().find(kProfile).evs.front().ev;
  EXPECT_EQ(device.profile({.edits = {{{.ev = known, .state = MRC_CTL_EV_DENIED}}}}), 0);
}

TEST(Port, IsEnabledUntilSomebodySaysOtherwise) {
  TestDevice device(2);
  EXPECT_TRUE(device.store.port_enabled(PortNumber(2)));
  EXPECT_EQ(device.store.set_port(PortNumber(2), false).error, 0);
  EXPECT_FALSE(device.store.port_enabled(PortNumber(2)));
  EXPECT_TRUE(device.store.port_enabled(PortNumber(1)));
  EXPECT_EQ(device.store.set_port(PortNumber(2), true).error, 0);
  EXPECT_TRUE(device.store.port_enabled(PortNumber(2)));
  EXPECT_EQ(device.store.set_port(PortNumber(0), false).error, EINVAL);
  EXPECT_EQ(device.store.set_port(PortNumber(3), false).error, EINVAL);
}

TEST(FormatProfile, LivesStepByStep) {
  TestDevice device(1);
  EXPECT_EQ(device.store.formats().find(kFormat).state, kInit);
  EXPECT_EQ(device.format({.state = kOffline}), EINVAL) << "without a mode";
  EXPECT_EQ(device.format({.state = kOnline, .mode = MRC_CTL_EV_FMT_MODE_STEV}), EINVAL);
  EXPECT_EQ(device.format({.state = kOffline, .mode = MRC_CTL_EV_FMT_MODE_STEV}), 0);
  EXPECT_EQ(device.format({.state = kOnline}), EINVAL) << "without fields";
  EXPECT_EQ(device.format({.state = kOnline, .widths = {{16, 16}}}), 0);
  EXPECT_EQ(device.format({.widths = {{16, 8}}}), EINVAL) << "ONLINE";
  EXPECT_EQ(device.format({.mode = MRC_CTL_EV_FMT_MODE_UDP}), EINVAL) << "ONLINE";
  EXPECT_EQ(device.format({.state = kInit}), EINVAL) << "two steps";
  EXPECT_EQ(device.format({.state = kOffline, .expected_state = kOffline}), EINVAL);
  EXPECT_EQ(device.format({.state = kOffline, .expected_state = kOnline}), 0);
  EXPECT_EQ(device.format({.mode = MRC_CTL_EV_FMT_MODE_SRV6}), 0);
  EXPECT_EQ(device.format({.state = kInit}), 0);
  EXPECT_TRUE(device.store.formats().all().empty());
}

TEST(FormatProfile, TakesOnlyWhatPacketsCarry) {
  TestDevice device(1);
  EXPECT_EQ(device.format({.mode = static_cast<mrc_ctl_ev_fmt_mode>(3)}), EINVAL);
  ASSERT_EQ(device.format({.state = kOffline, .mode = MRC_CTL_EV_FMT_MODE_STEV}), 0);
  EXPECT_EQ(device.format({.widths = {{16, 16, 1}}}), E2BIG);
  EXPECT_EQ(device.format({.widths = {{0, 16}}}), EINVAL);
  EXPECT_EQ(device.format({.widths = {{33}}}), EINVAL);
  EXPECT_EQ(device.format({.widths = std::vector<std::uint8_t>(33, 1)}), E2BIG);
  EXPECT_EQ(device.format({.widths = {{32}}}), 0);
  EXPECT_EQ(device.format({.mode = MRC_CTL_EV_FMT_MODE_UDP}), E2BIG) << "32 bits do not fit";
  EXPECT_EQ(device.store.formats().find(kFormat).mode, MRC_CTL_EV_FMT_MODE_STEV);
  EXPECT_EQ(device.format({.mode = MRC_CTL_EV_FMT_MODE_UDP, .widths = {{16}}}), 0);
}

TEST(FormatProfile, StaysOnlineWhileAProfileNeedsIt) {
  TestDevice device(1);
  device.make_format(MRC_CTL_EV_FMT_MODE_STEV, {16, 16});
  ASSERT_EQ(device.make_profile(MRC_CTL_EV_MODE_GEN, 4, {whole(16)}), 0);
  ASSERT_EQ(device.go_online(), 0);
  EXPECT_EQ(device.format({.state = kOffline}), EBUSY);
  ASSERT_EQ(device.profile({.state = kOffline}), 0);
  EXPECT_EQ(device.format({.state = kOffline}), 0);
  EXPECT_EQ(device.profile({.state = kOnline}), EINVAL) << "its format is OFFLINE";
  EXPECT_EQ(device.format({.state = kOnline}), 0);
  EXPECT_EQ(device.profile({.state = kOnline}), 0);
}

TEST(Stores, AreBounded) {
  ProfileStore store(
      {.planes = 1, .formats_max = 1, .ev_profiles_max = 3, .cc_profiles_max = 1, .evs_max = 100},
      own_evs(1));
  const FormatChange format{
      .state = kOffline, .mode = MRC_CTL_EV_FMT_MODE_STEV, .widths = {{16, 16}}};
  EXPECT_EQ(store.modify(FormatId(1), format).error, 0);
  EXPECT_EQ(store.modify(FormatId(2), format).error, E2BIG);
  const CcProfileChange cc{.state = kOffline, .algorithm = ""};
  EXPECT_EQ(store.modify(CcProfileId(1), cc).error, 0);
  EXPECT_EQ(store.modify(CcProfileId(2), cc).error, EINVAL);
  EXPECT_EQ(store.modify(CcProfileId(1), {.state = kInit}).error, 0);
  EXPECT_EQ(store.modify(CcProfileId(2), cc).error, 0);

  std::vector<EvStatus> changed;
  const auto make = [&](std::uint64_t id, std::uint32_t count) {
    return store
        .modify(
            EvProfileId(id),
            {.state = kOffline, .mode = MRC_CTL_EV_MODE_EXP, .format = FormatId(1), .count = count},
            changed)
        .error;
  };
  EXPECT_EQ(make(1, 60), 0);
  EXPECT_EQ(make(2, 60), E2BIG);
  EXPECT_EQ(store.evs().evs_free(), 40);
  EXPECT_EQ(make(2, 40), 0);
  EXPECT_EQ(make(1, 60), 0) << "its own EVs are not counted twice";
  EXPECT_EQ(store.evs().evs_free(), 0);
  EXPECT_EQ(store.modify(EvProfileId(2), {.state = kInit}, changed).error, 0);
  EXPECT_EQ(make(3, 1), 0);
  EXPECT_EQ(make(4, 1), 0);
  EXPECT_EQ(make(5, 1), E2BIG) << "three profiles";
}

}  // namespace
}  // namespace openmrc::libmrc
