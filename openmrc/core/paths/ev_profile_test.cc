// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/ev_profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/wire/field/ev_halves.h"

namespace openmrc::core {
namespace {

using Fault = EvProfileFault;

constexpr EvFormat kStev{.mode = EvFormatMode::kStev, .slot_widths = {16, 16}};
constexpr EvFormat kUdp{.mode = EvFormatMode::kUdp, .slot_widths = {16}};
constexpr EvFormat kSrv6{.mode = EvFormatMode::kSrv6, .slot_widths = {32, 16, 16, 16}};

constexpr EvIndex index_of(std::size_t i) { return EvIndex(static_cast<std::uint8_t>(i)); }

EvBits bits(std::initializer_list<unsigned> bytes) {
  EvBits result{};
  std::size_t at = 0;
  for (const unsigned byte : bytes) result[at++] = static_cast<std::byte>(byte);
  return result;
}

PortedEv stev(std::uint32_t value, unsigned port) {
  return {.value = bits({value >> 24, value >> 16 & 0xff, value >> 8 & 0xff, value & 0xff}),
          .port = PortNumber(static_cast<std::uint8_t>(port))};
}

std::vector<std::uint32_t> evs_of(const EvProfile& profile) {
  std::vector<std::uint32_t> evs;
  for (const EvEntry& entry : profile.entries()) evs.push_back(entry.ev.raw());
  return evs;
}

void expect_found_in(const EvProfile& profile, Plane plane) {
  const PlaneRange range = profile.range(plane);
  for (std::size_t i = range.first; i < range.first + range.count; ++i) {
    EXPECT_EQ(profile.entry(index_of(i)).plane, plane);
    EXPECT_EQ(profile.find(profile.entry(index_of(i)).ev), index_of(i));
  }
}

// What every profile promises, whatever it was made of.
void expect_sound(const EvProfile& profile) {
  EXPECT_EQ(profile.size(), profile.planes() * profile.evs_per_plane());
  std::size_t first = 0;
  for (std::size_t p = 0; p < profile.planes(); ++p) {
    const Plane plane(static_cast<std::uint8_t>(p));
    EXPECT_EQ(profile.range(plane), (PlaneRange{first, profile.evs_per_plane()}));
    expect_found_in(profile, plane);
    first += profile.evs_per_plane();
  }
}

TEST(EvProfile, AListIsOrderedPlaneByPlane) {
  const std::vector evs{stev(0x10, 2), stev(0x20, 1), stev(0x30, 2), stev(0x40, 1)};
  const auto profile = EvProfile::explicit_list({.format = kStev, .evs = evs, .planes = 2});
  ASSERT_TRUE(profile);
  expect_sound(*profile);
  EXPECT_EQ(evs_of(*profile), (std::vector<std::uint32_t>{0x20, 0x40, 0x10, 0x30}));
  EXPECT_EQ(profile->range(Plane(1)), (PlaneRange{2, 2}));
  EXPECT_EQ(profile->value(EvIndex(2)), evs[0].value);
  EXPECT_EQ(profile->mode(), EvFormatMode::kStev);
}

// PATH-9
TEST(EvProfile, TheFirstHalfGoesToTheFlowLabelTheSecondToTheSourcePort) {
  const std::vector evs{stev(0x1234c001, 1)};
  const auto profile = EvProfile::explicit_list({.format = kStev, .evs = evs});
  ASSERT_TRUE(profile);
  const EvEntry& entry = profile->entry(EvIndex(0));
  EXPECT_EQ(wire::ev_high(entry.ev), 0x1234);
  EXPECT_EQ(wire::ev_low(entry.ev), 0xc001);
  EXPECT_EQ(entry.outer, wire::Ipv6Address{});
  EXPECT_EQ(profile->segment(EvIndex(0)), std::nullopt);
}

// MRC 9.3.3 (PATH-8)
TEST(EvProfile, UdpModeFillsTheSourcePortOnly) {
  const std::vector evs{PortedEv{bits({0xc1, 0x02}), PortNumber(1)}};
  const auto profile = EvProfile::explicit_list({.format = kUdp, .evs = evs});
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->entry(EvIndex(0)).ev, Ev(0xc102));
  EXPECT_EQ(profile->entry(EvIndex(0)).outer, wire::Ipv6Address{});
}

TEST(EvProfile, FieldsExpandAList) {
  const std::vector<EvField> fields{
      {.width = 16, .init = 0x1000, .max = 0xff, .mask = 0x0f0f},
      {.width = 12, .init = 0xa00, .max = 0xf, .mask = 0x03c},
  };
  const std::vector evs{stev(0xb7d00000, 1)};
  const auto profile =
      EvProfile::explicit_list({.format = kStev, .fields = fields, .evs = evs, .planes = 1});
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->entry(EvIndex(0)).ev, Ev(0x1b070a34));
  EXPECT_EQ(profile->value(EvIndex(0)), evs[0].value);
}

// PATH-10
TEST(EvProfile, Srv6PutsAddressesOutsideAndAnIndexIntoTheSourcePort) {
  const EvBits path = bits({0xfc, 0xbb, 0xbb, 0, 0, 1, 0, 2, 1, 2});
  // The same uSIDs in two planes are two paths.
  const std::vector evs{PortedEv{path, PortNumber(2)}, PortedEv{path, PortNumber(1)}};
  const auto profile = EvProfile::explicit_list({.format = kSrv6, .evs = evs, .planes = 2});
  ASSERT_TRUE(profile);
  expect_sound(*profile);
  EXPECT_EQ(profile->entry(EvIndex(0)).ev, Ev(49152));
  EXPECT_EQ(profile->entry(EvIndex(1)).ev, Ev(49153));
  EXPECT_EQ(profile->entry(EvIndex(1)).outer,
            wire::Ipv6Address::of({0xfcbb, 0xbb00, 1, 2, 0x102, 0, 0, 0}));
  EXPECT_EQ(profile->segment(EvIndex(1)), std::nullopt);
}

// PATH-78
TEST(EvProfile, AWideSrv6FormatHasASegment) {
  EvFormat format{.mode = EvFormatMode::kSrv6};
  for (int i = 0; i < 16; ++i) format.slot_widths.push_back(16);
  PortedEv ev{.port = PortNumber(1)};
  for (std::size_t i = 0; i < ev.value.size(); ++i) ev.value[i] = static_cast<std::byte>(i);
  const std::vector evs{ev};
  const auto profile = EvProfile::explicit_list({.format = format, .evs = evs});
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->entry(EvIndex(0)).outer,
            wire::Ipv6Address::of({0x1, 0x203, 0x405, 0x607, 0x809, 0xa0b, 0xc0d, 0xe0f}));
  EXPECT_EQ(profile->segment(EvIndex(0)), wire::Ipv6Address::of({0x1011, 0x1213, 0x1415, 0x1617,
                                                                 0x1819, 0x1a1b, 0x1c1d, 0x1e1f}));
}

TEST(EvProfile, OptionsDefaultToAllActive) {
  const std::vector evs{stev(1, 1), stev(2, 1), stev(3, 1)};
  const auto all = EvProfile::explicit_list({.format = kStev, .evs = evs});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->active_per_plane(), 3U);
  EXPECT_EQ(all->min_active(), 0U);
  const auto some = EvProfile::explicit_list(
      {.format = kStev, .evs = evs, .options = {.min_active = 3, .active_per_plane = 2}});
  ASSERT_TRUE(some);
  EXPECT_EQ(some->active_per_plane(), 2U);
  EXPECT_EQ(some->min_active(), 3U);
}

TEST(EvProfile, FindsNothingThatItDoesNotHold) {
  const EvProfile profile = EvProfile::simple({.planes = 8, .evs_per_plane = 32, .seed = 3});
  const std::vector<std::uint32_t> evs = evs_of(profile);
  const std::set<std::uint32_t> held(evs.begin(), evs.end());
  Rng rng(4);
  for (int round = 0; round < 10'000; ++round) {
    const auto ev = static_cast<std::uint32_t>(rng.below(std::uint64_t{1} << 32));
    EXPECT_EQ(profile.find(Ev(ev)).has_value(), held.contains(ev));
  }
  // A free slot of the table looks like EV 0, but is free.
  EXPECT_EQ(profile.find(Ev(0)), std::nullopt);
}

TEST(EvProfile, FindsEvsThatCollide) {
  // Multiples of the inverse of the hash's factor: all belong into the last slot of the table, so
  // that they fill it from there on, around its end.
  constexpr std::uint32_t kInverse = 0xe8b2f51;
  static_assert(kInverse * 0x9e3779b1u == 1);
  std::vector<PortedEv> evs;
  for (std::uint32_t i = 1; i <= kEvsPerProfileMax; ++i) evs.push_back(stev((0 - i) * kInverse, 1));
  const auto profile = EvProfile::explicit_list({.format = kStev, .evs = evs});
  ASSERT_TRUE(profile);
  expect_sound(*profile);
  EXPECT_EQ(profile->find(Ev((0u - 257u) * kInverse)), std::nullopt);
}

// Generated.

const std::vector<EvField> kTiers{{.width = 16, .init = 0xc000, .max = 15, .mask = 0xf0},
                                  {.width = 16, .init = 0, .min = 2, .max = 17, .mask = 0x1f}};

TEST(EvProfile, GeneratedEvsStayWithinTheRangesOfTheFields) {
  const auto profile = EvProfile::generated(
      {.format = kStev, .fields = kTiers, .count = 128, .planes = 8, .seed = 1});
  ASSERT_TRUE(profile);
  expect_sound(*profile);
  EXPECT_EQ(profile->evs_per_plane(), 16U);
  for (const EvEntry& entry : profile->entries()) {
    EXPECT_EQ(wire::ev_high(entry.ev) & 0xff0f, 0xc000);
    EXPECT_TRUE(wire::ev_low(entry.ev) >= 2 && wire::ev_low(entry.ev) <= 17) << entry.ev.raw();
  }
}

TEST(EvProfile, GeneratesAllThereAre) {
  const auto profile = EvProfile::generated(
      {.format = kStev, .fields = kTiers, .count = 256, .planes = 4, .seed = 1});
  ASSERT_TRUE(profile);
  expect_sound(*profile);
  const std::vector<std::uint32_t> evs = evs_of(*profile);
  EXPECT_EQ(std::set<std::uint32_t>(evs.begin(), evs.end()).size(), 256U);
}

TEST(EvProfile, ASeedNamesTheGeneratedEvs) {
  const auto evs = [](std::uint64_t seed) {
    return evs_of(*EvProfile::generated(
        {.format = kStev, .fields = kTiers, .count = 16, .planes = 2, .seed = seed}));
  };
  EXPECT_EQ(evs(7), evs(7));
  EXPECT_NE(evs(7), evs(8));
}

TEST(EvProfile, GeneratesAddresses) {
  const std::vector<EvField> fields{
      {.width = 32, .init = 0xfcbbbb00},
      {.width = 16, .init = 0x100, .max = 7, .mask = 0xf},
      {.width = 16, .init = 0x200, .min = 1, .max = 15, .mask = 0xf},
  };
  const auto profile = EvProfile::generated(
      {.format = kSrv6, .fields = fields, .count = 120, .planes = 4, .seed = 5});
  ASSERT_TRUE(profile);
  expect_sound(*profile);
  std::set<wire::Ipv6Address> outer;
  for (const EvEntry& entry : profile->entries()) outer.insert(entry.outer);
  EXPECT_EQ(outer.size(), 120U);
  EXPECT_EQ(*outer.begin(), wire::Ipv6Address::of({0xfcbb, 0xbb00, 0x100, 0x201, 0, 0, 0, 0}));
  EXPECT_EQ(*outer.rbegin(), wire::Ipv6Address::of({0xfcbb, 0xbb00, 0x107, 0x20f, 0, 0, 0, 0}));
}

TEST(EvProfile, CountsMoreEvsThan64BitsCan) {
  EvFormat format{.mode = EvFormatMode::kSrv6};
  for (int i = 0; i < 8; ++i) format.slot_widths.push_back(32);
  const EvFields fields = identity_fields(format);
  const auto profile =
      EvProfile::generated({.format = format, .fields = fields, .count = 256, .planes = 1});
  ASSERT_TRUE(profile);
  expect_sound(*profile);
  EXPECT_NE(profile->segment(EvIndex(0)), profile->segment(EvIndex(1)));
}

TEST(EvProfile, SimpleEvsHaveDynamicSourcePorts) {
  const EvProfile profile = EvProfile::simple({.planes = 4, .evs_per_plane = 64, .seed = 9});
  expect_sound(profile);
  EXPECT_EQ(profile.size(), kEvsPerProfileMax);
  EXPECT_EQ(profile.active_per_plane(), 64U);
  for (const EvEntry& entry : profile.entries()) EXPECT_GE(wire::ev_low(entry.ev), 49152);
}

TEST(EvProfile, AllPlanesFit) {
  expect_sound(EvProfile::simple({.planes = kPlanesMax, .evs_per_plane = 8, .seed = 9}));
}

TEST(EvProfileDeathTest, SimpleEvsOutsideTheLimitsAreTheCallersMistake) {
  EXPECT_DEATH(EvProfile::simple({.planes = 32, .evs_per_plane = 1}), "more planes or EVs");
  EXPECT_DEATH(EvProfile::simple({.planes = 1, .evs_per_plane = 0}), "more planes or EVs");
}

// What is refused, and what the error tells.

EvProfileError refusal(const ExplicitEvs& from) {
  const auto profile = EvProfile::explicit_list(from);
  EXPECT_FALSE(profile);
  return profile ? EvProfileError{} : profile.error();
}

EvProfileError refusal(const GeneratedEvs& from) {
  const auto profile = EvProfile::generated(from);
  EXPECT_FALSE(profile);
  return profile ? EvProfileError{} : profile.error();
}

TEST(EvProfileRefusal, FieldsThatBreakARule) {
  const std::vector<EvField> fields{{.width = 16, .min = 1}};
  const EvProfileError expected{.fault = Fault::kFields, .field = FieldError::kRangeEmpty};
  const std::vector evs{stev(1, 1)};
  EXPECT_EQ(refusal(ExplicitEvs{.format = kStev, .fields = fields, .evs = evs}), expected);
  EXPECT_EQ(refusal(GeneratedEvs{.format = kStev, .fields = fields, .count = 1}), expected);
  EXPECT_EQ(to_string(expected), "the EV fields break a rule: a minimum is above its maximum");
}

TEST(EvProfileRefusal, AFormatThatBreaksARuleWithoutFields) {
  const std::vector evs{stev(1, 1)};
  const EvFormat format{.mode = EvFormatMode::kStev, .slot_widths = {16, 17}};
  EXPECT_EQ(refusal(ExplicitEvs{.format = format, .evs = evs}),
            (EvProfileError{.fault = Fault::kFields, .field = FieldError::kFormatTooWide}));
}

TEST(EvProfileRefusal, BitsThatNoFieldTakes) {
  const std::vector evs{PortedEv{bits({0, 1}), PortNumber(1)},
                        PortedEv{bits({0, 2, 1}), PortNumber(1)}};
  EXPECT_EQ(refusal(ExplicitEvs{.format = kUdp, .evs = evs}),
            (EvProfileError{Fault::kBitsLeft, 1}));
}

TEST(EvProfileRefusal, NoPlanesOrTooMany) {
  const std::vector evs{stev(1, 1)};
  EXPECT_EQ(refusal(ExplicitEvs{.format = kStev, .evs = evs, .planes = 0}),
            (EvProfileError{Fault::kPlanes, 0, 31}));
  EXPECT_EQ(refusal(GeneratedEvs{.format = kStev, .fields = kTiers, .count = 32, .planes = 32}),
            (EvProfileError{Fault::kPlanes, 32, 31}));
}

TEST(EvProfileRefusal, TooManyEvs) {
  std::vector<PortedEv> evs;
  evs.reserve(257);
  for (std::uint32_t i = 0; i < 257; ++i) evs.push_back(stev(i, 1));
  EXPECT_EQ(refusal(ExplicitEvs{.format = kStev, .evs = evs}),
            (EvProfileError{Fault::kTooManyEvs, 257, 256}));
  EXPECT_EQ(refusal(GeneratedEvs{.format = kStev, .fields = kTiers, .count = 257}),
            (EvProfileError{Fault::kTooManyEvs, 257, 256}));
}

TEST(EvProfileRefusal, APortThatIsInNoPlane) {
  // Port 0 is also what an entry has that was never filled in.
  const std::vector unfilled{stev(1, 1), stev(0, 0)};
  EXPECT_EQ(refusal(ExplicitEvs{.format = kStev, .evs = unfilled, .planes = 2}),
            (EvProfileError{Fault::kPort, 0, 2}));
  const std::vector beyond{stev(1, 1), stev(2, 3)};
  EXPECT_EQ(refusal(ExplicitEvs{.format = kStev, .evs = beyond, .planes = 2}),
            (EvProfileError{Fault::kPort, 3, 2}));
}

// PATH-2
TEST(EvProfileRefusal, APlaneWithoutEvs) {
  const std::vector evs{stev(1, 1), stev(2, 3)};
  EXPECT_EQ(refusal(ExplicitEvs{.format = kStev, .evs = evs, .planes = 3}),
            (EvProfileError{Fault::kPlaneEmpty, 1}));
  EXPECT_EQ(refusal(ExplicitEvs{.format = kStev, .planes = 1}),
            (EvProfileError{Fault::kPlaneEmpty, 0}));
  EXPECT_EQ(refusal(GeneratedEvs{.format = kStev, .fields = kTiers, .count = 3, .planes = 4}),
            (EvProfileError{Fault::kPlaneEmpty, 3}));
}

// PATH-2
TEST(EvProfileRefusal, PlanesWithDifferentNumbersOfEvs) {
  const std::vector evs{stev(1, 1), stev(2, 2), stev(3, 2)};
  const EvProfileError expected{Fault::kPlanesUnequal, 2, 1};
  EXPECT_EQ(refusal(ExplicitEvs{.format = kStev, .evs = evs, .planes = 2}), expected);
  EXPECT_EQ(to_string(expected), "planes must have equally many EVs (one / another): 2 / 1");
  EXPECT_EQ(refusal(GeneratedEvs{.format = kStev, .fields = kTiers, .count = 5, .planes = 2}),
            (EvProfileError{Fault::kPlanesUnequal, 2, 3}));
}

// PATH-3
TEST(EvProfileRefusal, TwoEvsThatASackCannotTellApart) {
  const std::vector evs{stev(0x77, 1), stev(0x77, 2)};
  const EvProfileError expected{Fault::kDuplicateEv, 0x77};
  EXPECT_EQ(refusal(ExplicitEvs{.format = kStev, .evs = evs, .planes = 2}), expected);
  EXPECT_EQ(to_string(expected), "two EVs look the same in a SACK (EV): 119");
}

TEST(EvProfileRefusal, MoreEvsThanTheFieldsGive) {
  const std::vector<EvField> fields{{.width = 16, .max = 2, .mask = 3},
                                    {.width = 16, .min = 4, .max = 7, .mask = 7}};
  const EvProfileError expected{Fault::kTooFewDifferent, 13, 12};
  EXPECT_EQ(refusal(GeneratedEvs{.format = kStev, .fields = fields, .count = 13}), expected);
  EXPECT_EQ(to_string(expected), "the fields give too few EVs (wanted / different ones): 13 / 12");
  EXPECT_TRUE(EvProfile::generated({.format = kStev, .fields = fields, .count = 12}));
  EXPECT_EQ(refusal(GeneratedEvs{.format = kStev, .count = 2}),
            (EvProfileError{Fault::kTooFewDifferent, 2, 1}));
}

TEST(EvProfileRefusal, AMinimumAboveTheNumberOfEvs) {
  const std::vector evs{stev(1, 1), stev(2, 1)};
  EXPECT_EQ(refusal(ExplicitEvs{.format = kStev, .evs = evs, .options = {.min_active = 3}}),
            (EvProfileError{Fault::kMinActive, 3, 2}));
  EXPECT_EQ(refusal(GeneratedEvs{
                .format = kStev, .fields = kTiers, .count = 2, .options = {.min_active = 3}}),
            (EvProfileError{Fault::kMinActive, 3, 2}));
}

TEST(EvProfileRefusal, MoreActiveEvsThanAPlaneHas) {
  const std::vector evs{stev(1, 1), stev(2, 2)};
  EXPECT_EQ(refusal(ExplicitEvs{
                .format = kStev, .evs = evs, .planes = 2, .options = {.active_per_plane = 2}}),
            (EvProfileError{Fault::kActivePerPlane, 2, 1}));
}

TEST(EvProfileRefusal, EachFaultHasItsText) {
  std::set<std::string_view> texts;
  for (unsigned i = 0; i <= static_cast<unsigned>(Fault::kActivePerPlane); ++i) {
    texts.insert(describe(static_cast<Fault>(i)));
  }
  EXPECT_EQ(texts.size(), 11U);
  EXPECT_FALSE(texts.contains("unknown fault"));
}

}  // namespace
}  // namespace openmrc::core
