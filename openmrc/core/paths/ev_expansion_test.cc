// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/ev_expansion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <bitset>
#include <initializer_list>
#include <string>
#include <vector>

#include "openmrc/base/rng.h"

namespace openmrc::core {
namespace {

EvBits bits(std::initializer_list<unsigned> bytes) {
  EvBits result{};
  std::size_t at = 0;
  for (const unsigned byte : bytes) result[at++] = static_cast<std::byte>(byte);
  return result;
}

// All 256 bits as digits, the first bit first.
std::string digits(const EvBits& value) {
  std::string text;
  for (const std::byte byte : value) {
    text += std::bitset<8>(std::to_integer<unsigned>(byte)).to_string();
  }
  return text;
}

EvField fixed(std::uint32_t width, std::uint32_t init) { return {.width = width, .init = init}; }

EvField masked(std::uint32_t width, std::uint32_t init, std::uint32_t mask) {
  const auto ones = static_cast<unsigned>(std::popcount(mask));
  const auto max = static_cast<std::uint32_t>((std::uint64_t{1} << ones) - 1);
  return {.width = width, .init = init, .min = 0, .max = max, .mask = mask};
}

constexpr EvFormat kTwoHalves{.mode = EvFormatMode::kStev, .slot_widths = {16, 16}};

Result<void, FieldError> check(const EvFormat& format, std::initializer_list<EvField> fields) {
  return check_fields(format, std::vector<EvField>(fields));
}

// Worked examples A, B and C of the control interface.

// PATH-4
TEST(EvExpansion, OverlaysEvBitsWhereTheMaskHasOnes) {
  const std::vector fields{masked(16, 0x1000, 0x0f0f), masked(12, 0xa00, 0x03c)};
  ASSERT_TRUE(check_fields(kTwoHalves, fields));
  EXPECT_EQ(expand(kTwoHalves, fields, bits({0xb7, 0xd0})), bits({0x1b, 0x07, 0x0a, 0x34}));
}

TEST(EvExpansion, FillsTheUsidsOfAnAddressBehindAFixedBlock) {
  const EvFormat format{.mode = EvFormatMode::kSrv6, .slot_widths = {32, 16, 16, 16, 16}};
  const std::vector fields{fixed(32, 0xfcbb0001), masked(16, 0x100, 0xf), masked(16, 0x200, 0xf),
                           masked(16, 0x300, 0xf), masked(16, 0x400, 0xf)};
  ASSERT_TRUE(check_fields(format, fields));
  EXPECT_EQ(expand(format, fields, bits({0x1a, 0x2b})),
            bits({0xfc, 0xbb, 0x00, 0x01, 0x01, 0x01, 0x02, 0x0a, 0x03, 0x02, 0x04, 0x0b}));
  EXPECT_FALSE(format.has_segment());
}

TEST(EvExpansion, FieldsOfAllOnesPassTheEvThrough) {
  const EvFormat format{.mode = EvFormatMode::kStev, .slot_widths = {8, 4, 4}};
  const std::vector fields{masked(8, 0, 0xff), masked(4, 0, 0xf), masked(4, 0, 0xf)};
  ASSERT_TRUE(check_fields(format, fields));
  EXPECT_EQ(expand(format, fields, bits({0x5e, 0xc4})), bits({0x5e, 0xc4}));
}

// PATH-4
TEST(EvExpansion, EvBitsReplaceBitsOfTheInitialValue) {
  const std::vector fields{masked(16, 0xffff, 0x0ff0)};
  EXPECT_EQ(expand(kTwoHalves, fields, bits({0xa5})), bits({0xfa, 0x5f}));
}

// PATH-5
TEST(EvExpansion, SlotsWithoutAFieldStayZero) {
  const std::vector fields{fixed(16, 0x1234)};
  EXPECT_EQ(expand(kTwoHalves, fields, EvBits{}), bits({0x12, 0x34, 0, 0}));
  EXPECT_EQ(expand(kTwoHalves, {}, EvBits{}), EvBits{});
}

// PATH-5
TEST(EvExpansion, ANarrowFieldIsRightJustifiedInItsSlot) {
  const EvFormat format{.mode = EvFormatMode::kStev, .slot_widths = {5, 11}};
  const std::vector fields{fixed(2, 0b11), fixed(3, 0b101)};
  EXPECT_EQ(expand(format, fields, EvBits{}), bits({0b00011'000, 0b00000'101}));
}

// PATH-6
TEST(EvExpansion, BitsThatNoFieldTakesMustBeZero) {
  const std::vector fields{masked(16, 0, 0xff)};
  EXPECT_TRUE(expand(kTwoHalves, fields, bits({0xff})));
  EXPECT_EQ(expand(kTwoHalves, fields, bits({0xff, 0x80})).error(), ExpandError::kBitsLeft);
  EvBits last{};
  last.back() = std::byte{1};
  EXPECT_EQ(expand(kTwoHalves, fields, last).error(), ExpandError::kBitsLeft);
}

// PATH-6
TEST(EvExpansion, IdentityTakesEveryBit) {
  const EvFormat format{.mode = EvFormatMode::kSrv6,
                        .slot_widths = {32, 32, 32, 32, 32, 32, 32, 16, 7, 8, 1}};
  ASSERT_EQ(format.width(), 256U);
  EXPECT_TRUE(format.has_segment());
  const EvFields fields = identity_fields(format);
  ASSERT_TRUE(check_fields(format, fields));
  Rng rng(1);
  for (int round = 0; round < 100; ++round) {
    EvBits ev{};
    for (std::byte& byte : ev) byte = static_cast<std::byte>(rng.below(256));
    EXPECT_EQ(expand(format, fields, ev), ev);
  }
}

TEST(EvExpansion, PackingMakesTheEvThatGivesTheNumbers) {
  const std::vector fields{masked(16, 0x1000, 0x0f0f), fixed(16, 7), masked(12, 0xa00, 0x03c)};
  EXPECT_EQ(pack_ev(fields, std::vector<std::uint32_t>{0xb7, 0, 0xd}), bits({0xb7, 0xd0}));
}

// The rule as it is written down, on digits: shares nothing with the code under test.
std::string expand_naively(const EvFormat& format, std::span<const EvField> fields,
                           const std::string& ev) {
  std::string result;
  std::size_t cursor = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    std::string value = std::bitset<32>(fields[i].init).to_string();
    const std::string mask = std::bitset<32>(fields[i].mask).to_string();
    for (std::size_t at = 32 - fields[i].width; at < 32; ++at) {
      if (mask[at] == '1') value[at] = ev[cursor++];
    }
    result += value.substr(32 - format.slot_widths[i]);
  }
  return result + std::string(256 - result.size(), '0');
}

struct RandomCase {
  EvFormat format;
  std::vector<EvField> fields;
  EvBits ev{};
};

std::uint32_t random_bits(Rng& rng, std::uint64_t count) {
  return static_cast<std::uint32_t>(rng.below(std::uint64_t{1} << count));
}

RandomCase random_case(Rng& rng) {
  RandomCase c;
  c.format.mode = EvFormatMode::kSrv6;
  const std::size_t slots = rng.between(1, 12);
  std::vector<std::uint32_t> numbers;
  for (std::size_t i = 0; i < slots; ++i) {
    const std::uint64_t slot = rng.between(1, std::min<std::uint64_t>(32, 256 - c.format.width()));
    if (c.format.width() + slot >= 256) break;
    c.format.slot_widths.push_back(static_cast<std::uint8_t>(slot));
    const std::uint64_t width = rng.between(0, slot);
    c.fields.push_back(masked(static_cast<std::uint32_t>(width), random_bits(rng, width),
                              random_bits(rng, width)));
    numbers.push_back(static_cast<std::uint32_t>(rng.between(0, c.fields.back().max)));
  }
  c.ev = pack_ev(c.fields, numbers);
  return c;
}

// PATH-4
TEST(EvExpansion, AgreesWithTheRuleReadBitByBit) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Rng rng(seed);
    const RandomCase c = random_case(rng);
    ASSERT_TRUE(check_fields(c.format, c.fields)) << "seed " << seed;
    const auto expanded = expand(c.format, c.fields, c.ev);
    ASSERT_TRUE(expanded) << "seed " << seed;
    ASSERT_EQ(digits(*expanded), expand_naively(c.format, c.fields, digits(c.ev)))
        << "seed " << seed;
  }
}

// One test for each rule: what just passes, what just does not.

// PATH-7
TEST(EvFieldCheck, ASlotHasOneTo32Bits) {
  EXPECT_TRUE(check({.mode = EvFormatMode::kSrv6, .slot_widths = {1, 32}}, {}));
  EXPECT_EQ(check({.mode = EvFormatMode::kSrv6, .slot_widths = {16, 0}}, {}),
            failure(FieldError::kSlotWidth));
  EXPECT_EQ(check({.mode = EvFormatMode::kSrv6, .slot_widths = {33}}, {}),
            failure(FieldError::kSlotWidth));
  const EvFormat wide{.mode = EvFormatMode::kSrv6, .slot_widths = {255}};
  EXPECT_EQ(check_fields(wide, identity_fields(wide)), failure(FieldError::kSlotWidth));
}

// PATH-7
TEST(EvFieldCheck, AFormatHasNoMoreBitsThanItsModeCarries) {
  EXPECT_TRUE(check({.mode = EvFormatMode::kUdp, .slot_widths = {8, 8}}, {}));
  EXPECT_EQ(check({.mode = EvFormatMode::kUdp, .slot_widths = {8, 8, 1}}, {}),
            failure(FieldError::kFormatTooWide));
  EXPECT_TRUE(check({.mode = EvFormatMode::kStev, .slot_widths = {32}}, {}));
  EXPECT_EQ(check({.mode = EvFormatMode::kStev, .slot_widths = {32, 1}}, {}),
            failure(FieldError::kFormatTooWide));
}

// PATH-10
TEST(EvFieldCheck, AnSrv6FormatMayContinueInASegment) {
  EvFormat srv6{.mode = EvFormatMode::kSrv6, .slot_widths = {32, 32, 32, 32}};
  EXPECT_FALSE(srv6.has_segment());
  for (int i = 0; i < 4; ++i) srv6.slot_widths.push_back(32);
  EXPECT_TRUE(srv6.has_segment());
  EXPECT_TRUE(check(srv6, {}));
  srv6.slot_widths.push_back(1);
  EXPECT_EQ(check(srv6, {}), failure(FieldError::kFormatTooWide));
}

// PATH-7
TEST(EvFieldCheck, FieldsAreNotMoreThanSlots) {
  EXPECT_TRUE(check(kTwoHalves, {fixed(1, 0), fixed(1, 0)}));
  EXPECT_EQ(check(kTwoHalves, {fixed(1, 0), fixed(1, 0), fixed(1, 0)}),
            failure(FieldError::kTooManyFields));
}

// PATH-7
TEST(EvFieldCheck, AFieldHasAtMost32Bits) {
  const EvFormat format{.mode = EvFormatMode::kSrv6, .slot_widths = {32, 32}};
  EXPECT_TRUE(check(format, {masked(32, 0, 0xffffffff)}));
  EXPECT_EQ(check(format, {fixed(33, 0)}), failure(FieldError::kFieldTooWide));
  EXPECT_EQ(check(format, {fixed(0xffffffff, 0)}), failure(FieldError::kFieldTooWide));
}

// PATH-7
TEST(EvFieldCheck, FieldsTogetherAreNotWiderThanTheFormat) {
  EXPECT_TRUE(check(kTwoHalves, {fixed(16, 0), fixed(16, 0)}));
  EXPECT_EQ(check(kTwoHalves, {fixed(16, 0), fixed(17, 0)}),
            failure(FieldError::kFieldsWiderThanFormat));
}

// PATH-7
TEST(EvFieldCheck, AFieldIsNotWiderThanItsOwnSlot) {
  EXPECT_EQ(check(kTwoHalves, {fixed(17, 0), fixed(15, 0)}),
            failure(FieldError::kFieldWiderThanSlot));
}

// PATH-7
TEST(EvFieldCheck, AnInitialValueFitsIntoItsField) {
  EXPECT_TRUE(check(kTwoHalves, {fixed(12, 0xfff)}));
  EXPECT_EQ(check(kTwoHalves, {fixed(12, 0x1000)}), failure(FieldError::kInitTooWide));
  EXPECT_EQ(check(kTwoHalves, {fixed(0, 1)}), failure(FieldError::kInitTooWide));
}

// PATH-7
TEST(EvFieldCheck, AMaskFitsIntoItsField) {
  EXPECT_TRUE(check(kTwoHalves, {masked(12, 0, 0x800)}));
  EXPECT_EQ(check(kTwoHalves, {masked(12, 0, 0x1000)}), failure(FieldError::kMaskTooWide));
}

// PATH-7
TEST(EvFieldCheck, AMaximumFitsIntoTheOnesOfTheMask) {
  EXPECT_TRUE(check(kTwoHalves, {{.width = 16, .max = 7, .mask = 0x111}}));
  EXPECT_EQ(check(kTwoHalves, {{.width = 16, .max = 8, .mask = 0x111}}),
            failure(FieldError::kMaxTooLarge));
  EXPECT_EQ(check(kTwoHalves, {{.width = 16, .max = 1, .mask = 0}}),
            failure(FieldError::kMaxTooLarge));
}

// PATH-7
TEST(EvFieldCheck, AMinimumIsNotAboveTheMaximum) {
  EXPECT_TRUE(check(kTwoHalves, {{.width = 16, .min = 3, .max = 3, .mask = 3}}));
  EXPECT_EQ(check(kTwoHalves, {{.width = 16, .min = 3, .max = 2, .mask = 3}}),
            failure(FieldError::kRangeEmpty));
}

TEST(EvFieldCheck, EachErrorHasItsText) {
  std::vector<std::string_view> texts;
  for (unsigned i = 0; i <= static_cast<unsigned>(FieldError::kRangeEmpty); ++i) {
    texts.push_back(describe(static_cast<FieldError>(i)));
  }
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(std::adjacent_find(texts.begin(), texts.end()), texts.end());
}

}  // namespace
}  // namespace openmrc::core
