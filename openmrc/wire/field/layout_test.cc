// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/field/layout.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "openmrc/base/rng.h"

namespace openmrc::wire {
namespace {

// Fields of every awkward kind: one bit, over a byte border, over a word border, 24 and 64 bits.
struct OddLayout {
  using Flag = Bits<"flag", 0, 1>;
  using Crossing = Bits<"crossing", 1, 10>;
  using Middle = Bits<"middle", 11, 45>;
  using OverWords = Bits<"over_words", 56, 24>;
  using Long = Bits<"long", 80, 64>;
  using Tail = Bits<"tail", 144, 8>;
  using Fields = FieldList<Flag, Crossing, Middle, OverWords, Long, Tail>;
};
constexpr std::size_t kOddSize = kWireSize<OddLayout>;
static_assert(kOddSize == 19);

// One bit at a time, as slowly and plainly as can be.
template <class Field>
std::uint64_t read_bit_by_bit(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t bit = Field::kOffset; bit < Field::kEnd; ++bit) {
    const unsigned byte = std::to_integer<unsigned>(bytes[bit / 8]);
    value = value << 1 | (byte >> (7 - bit % 8) & 1);
  }
  return value;
}

// WIRE-1
TEST(Layout, ReadsWhatABitByBitReaderReads) {
  Rng rng(1);
  for (int round = 0; round < 1'000; ++round) {
    std::array<std::byte, kOddSize> bytes;
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.below(256));
    const HeaderView<OddLayout> view(bytes);
    OddLayout::Fields::for_each([&]<class Field> {
      ASSERT_EQ(std::uint64_t{view.get<Field>()}, read_bit_by_bit<Field>(bytes)) << Field::kName;
    });
  }
}

TEST(Layout, WritesWhatItReads) {
  Rng rng(2);
  for (int round = 0; round < 1'000; ++round) {
    std::array<std::byte, kOddSize> bytes;
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.below(256));
    const HeaderView<OddLayout> view(bytes);
    std::array<std::byte, kOddSize> copy;
    copy.fill(std::byte{0xee});
    using L = OddLayout;
    write_fields<L>(copy, L::Flag::of(view.get<L::Flag>()),
                    L::Crossing::of(view.get<L::Crossing>()), L::Middle::of(view.get<L::Middle>()),
                    L::OverWords::of(view.get<L::OverWords>()), L::Long::of(view.get<L::Long>()),
                    L::Tail::of(view.get<L::Tail>()));
    ASSERT_EQ(copy, bytes);
  }
}

// WIRE-2
TEST(Layout, FieldsThatAreNotGivenAreZero) {
  std::array<std::byte, kOddSize> bytes;
  bytes.fill(std::byte{0xff});
  write_fields<OddLayout>(bytes, OddLayout::Tail::of(0x5a));
  EXPECT_EQ(bytes[kOddSize - 1], std::byte{0x5a});
  for (std::size_t i = 0; i + 1 < kOddSize; ++i) EXPECT_EQ(bytes[i], std::byte{0}) << i;
}

TEST(Layout, AViewNeedsAllItsBytes) {
  const std::vector<std::byte> bytes(kOddSize);
  EXPECT_TRUE(HeaderView<OddLayout>::over(bytes));
  EXPECT_FALSE(HeaderView<OddLayout>::over(ConstBytes(bytes).first(kOddSize - 1)));
}

TEST(Layout, NamesItsFieldsInOrder) {
  std::vector<std::string_view> names;
  OddLayout::Fields::for_each([&]<class Field> { names.push_back(Field::kName); });
  EXPECT_EQ(names, (std::vector<std::string_view>{"flag", "crossing", "middle", "over_words",
                                                  "long", "tail"}));
}

}  // namespace
}  // namespace openmrc::wire
