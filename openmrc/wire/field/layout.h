// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "openmrc/base/bytes.h"
#include "openmrc/base/check.h"
#include "openmrc/wire/field/byte_order.h"

// A header is a list of named bit fields. Each header file writes that list down once; from it come
// the size, the accessors of the view, the bytes that are written, the printed form, and the proof
// that every bit of the header belongs to exactly one field.
namespace openmrc::wire {

template <std::size_t kLength>
struct FieldName {
  // Implicit, so that a field can be named by a string literal.
  consteval FieldName(const char (&text)[kLength]) {  // NOLINT(google-explicit-constructor)
    std::copy_n(text, kLength, characters);
  }
  [[nodiscard]] constexpr std::string_view view() const { return {characters, kLength - 1}; }
  char characters[kLength];
};

template <std::size_t kBits>
using UintOfBits = std::conditional_t<
    (kBits <= 8), std::uint8_t,
    std::conditional_t<(kBits <= 16), std::uint16_t,
                       std::conditional_t<(kBits <= 32), std::uint32_t, std::uint64_t>>>;

template <class FieldType>
struct FieldValue {
  using Field = FieldType;
  typename FieldType::Value value;
};

// An unsigned number of at most 64 bits, most significant bit first, as diagrams of RFCs count:
// bit 0 is the highest bit of byte 0 (WIRE-1).
template <FieldName kNameText, std::size_t kFirstBit, std::size_t kBits>
struct Bits {
  static constexpr std::string_view kName = kNameText.view();
  static constexpr std::size_t kOffset = kFirstBit;
  static constexpr std::size_t kWidth = kBits;
  static constexpr std::size_t kEnd = kOffset + kWidth;
  static_assert(kWidth >= 1 && kWidth <= 64);
  using Value = UintOfBits<kWidth>;

  // The field with the value it shall have, for `write_fields`.
  static constexpr FieldValue<Bits> of(Value value) {
    OPENMRC_DCHECK(kWidth == 64 || std::uint64_t{value} >> (kWidth % 64) == 0,
                   "value is wider than its field");
    return {value};
  }

  template <std::size_t kHeaderSize>
  static constexpr Value read(std::span<const std::byte, kHeaderSize> header) {
    // One load of 1, 2, 4 or 8 bytes that ends with the field's last byte.
    constexpr std::size_t kFirstByte = kOffset / 8;
    constexpr std::size_t kEndByte = (kEnd + 7) / 8;
    constexpr std::size_t kSpan = kEndByte - kFirstByte;
    constexpr std::size_t kLoad = kSpan == 1 ? 1 : kSpan == 2 ? 2 : kSpan <= 4 ? 4 : 8;
    constexpr std::size_t kStart = kEndByte >= kLoad ? kEndByte - kLoad : 0;
    static_assert(kSpan <= 8 && kStart + kLoad <= kHeaderSize, "field lies outside the header");
    const auto word = load_be<UintOfBits<kLoad * 8>>(header.data() + kStart);
    constexpr std::size_t kShift = (kStart + kLoad) * 8 - kEnd;
    constexpr auto kMask = std::numeric_limits<std::uint64_t>::max() >> (64 - kWidth);
    return static_cast<Value>((word >> kShift) & kMask);
  }
};

// A run of whole bytes that is not a number, such as an IPv6 address.
template <FieldName kNameText, std::size_t kFirstBit, std::size_t kBytes>
struct Octets {
  static constexpr std::string_view kName = kNameText.view();
  static constexpr std::size_t kOffset = kFirstBit;
  static constexpr std::size_t kWidth = kBytes * 8;
  static constexpr std::size_t kEnd = kOffset + kWidth;
  static_assert(kOffset % 64 == 0 && kBytes % 8 == 0, "write_fields works in words of 8 bytes");
  using Value = std::array<std::byte, kBytes>;

  static constexpr FieldValue<Octets> of(const Value& value) { return {value}; }

  template <std::size_t kHeaderSize>
  static constexpr Value read(std::span<const std::byte, kHeaderSize> header) {
    static_assert(kEnd <= kHeaderSize * 8, "field lies outside the header");
    Value value;
    std::copy_n(header.begin() + kOffset / 8, kBytes, value.begin());
    return value;
  }
};

template <class Field>
concept NumberField = std::integral<typename Field::Value>;

// Every field of a header, in order. Does not compile when fields overlap or leave a gap.
template <class... Fields>
struct FieldList {
  static constexpr std::size_t kWireSize = [] {
    std::size_t end = 0;
    bool gapless = true;
    ((gapless = gapless && Fields::kOffset == end, end = Fields::kEnd), ...);
    return gapless && end % 8 == 0 ? end / 8 : 0;
  }();
  static_assert(kWireSize > 0, "each field starts where the one before it ends; whole bytes");

  // Calls `visitor` with each field type in turn.
  template <class Visitor>
  static constexpr void for_each(Visitor visitor) {
    (visitor.template operator()<Fields>(), ...);
  }
};

template <class Layout>
inline constexpr std::size_t kWireSize = Layout::Fields::kWireSize;

// A header as it lies in memory: the length is checked once, by whoever makes the view; after that
// no accessor can fail.
template <class Layout>
class HeaderView {
 public:
  static constexpr std::size_t kSize = kWireSize<Layout>;

  static constexpr std::optional<HeaderView> over(ConstBytes bytes) {
    if (bytes.size() < kSize) return std::nullopt;
    return HeaderView(bytes.first<kSize>());
  }
  constexpr explicit HeaderView(std::span<const std::byte, kSize> bytes) : bytes_(bytes) {}

  template <class Field>
  [[nodiscard]] constexpr typename Field::Value get() const {
    return Field::template read<kSize>(bytes_);
  }
  [[nodiscard]] constexpr std::span<const std::byte, kSize> bytes() const { return bytes_; }

 private:
  std::span<const std::byte, kSize> bytes_;
};

namespace detail {

// What `field` contributes to the big-endian word of kBytes bytes that starts at byte kStart.
template <std::size_t kStart, std::size_t kBytes, class Field>
constexpr std::uint64_t contribution(const FieldValue<Field>& field) {
  constexpr std::size_t kWordEnd = (kStart + kBytes) * 8;
  if constexpr (!NumberField<Field> || Field::kOffset >= kWordEnd || Field::kEnd <= kStart * 8) {
    return 0;
  } else if constexpr (Field::kEnd <= kWordEnd) {
    return std::uint64_t{field.value} << (kWordEnd - Field::kEnd);
  } else {
    return std::uint64_t{field.value} >> (Field::kEnd - kWordEnd);
  }
}

template <std::size_t kStart, std::size_t kBytes, class Field>
constexpr bool is_inside_octets() {
  return !NumberField<Field> && Field::kOffset <= kStart * 8 &&
         Field::kEnd >= (kStart + kBytes) * 8;
}

template <std::size_t kStart, std::size_t kSize, class... Fields>
constexpr void write_words(std::byte* out, const FieldValue<Fields>&... fields) {
  if constexpr (kStart < kSize) {
    constexpr std::size_t kLeft = kSize - kStart;
    constexpr std::size_t kBytes = kLeft >= 8 ? 8 : kLeft >= 4 ? 4 : kLeft >= 2 ? 2 : 1;
    if constexpr (!(is_inside_octets<kStart, kBytes, Fields>() || ...)) {
      const std::uint64_t word = (contribution<kStart, kBytes>(fields) | ... | 0);
      using Word = UintOfBits<kBytes * 8>;
      store_be<Word>(out + kStart, static_cast<Word>(word));
    }
    write_words<kStart + kBytes, kSize>(out, fields...);
  }
}

template <class Field>
constexpr void write_octets(std::byte* out, const FieldValue<Field>& field) {
  if constexpr (!NumberField<Field>) {
    std::copy_n(field.value.data(), field.value.size(), out + Field::kOffset / 8);
  }
}

}  // namespace detail

// Writes a whole header in words of up to 8 bytes: the fields given, and zero everywhere else.
// WIRE-2
template <class Layout, class... Fields>
constexpr void write_fields(std::span<std::byte, kWireSize<Layout>> out,
                            FieldValue<Fields>... fields) {
  detail::write_words<0, kWireSize<Layout>>(out.data(), fields...);
  (detail::write_octets(out.data(), fields), ...);
}

}  // namespace openmrc::wire
