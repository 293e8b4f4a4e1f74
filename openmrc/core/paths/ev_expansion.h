// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "openmrc/base/fixed_vector.h"
#include "openmrc/base/result.h"

// A controller names a path by few bits, its EV; packets carry more (a whole IPv6 address with
// SRv6). Expansion makes the second of the first (libmrc control interface, EV fields).
namespace openmrc::core {

// A string of bits, the most significant bit of the first byte first. Room for the widest: an outer
// IPv6 address and one segment.
using EvBits = std::array<std::byte, 32>;

// Which part of a packet the expanded bits go to.
enum class EvFormatMode : std::uint8_t {
  kStev,  // MRC 9.3.4 (PATH-9): IPv6 flow label, then UDP source port
  kSrv6,  // outer IPv6 destination, then the one segment of a routing header if there are more
  kUdp,   // MRC 9.3.3 (PATH-8): UDP source port only, on IPv4 or IPv6
};

// The most bits that a format of this mode may have.
constexpr std::size_t ev_width_max(EvFormatMode mode) {
  switch (mode) {
    case EvFormatMode::kStev: return 32;
    case EvFormatMode::kSrv6: return 256;
    case EvFormatMode::kUdp: return 16;
  }
  return 0;
}

// Wider SRv6 formats need a routing header.
inline constexpr std::size_t kSrv6WidthWithoutSegment = 128;

// Twice what the longest uSID path takes: two blocks and twelve uSIDs are 14 slots.
inline constexpr std::size_t kEvSlotsMax = 32;

// How expanded bits divide into slots, in order. Slots that do not fill the mode's width leave
// zeros behind them.
struct EvFormat {
  EvFormatMode mode = EvFormatMode::kStev;
  FixedVector<std::uint8_t, kEvSlotsMax> slot_widths{};  // each in bits

  [[nodiscard]] constexpr std::size_t width() const {
    std::size_t sum = 0;
    for (const std::uint8_t slot : slot_widths) sum += slot;
    return sum;
  }
  [[nodiscard]] constexpr bool has_segment() const {
    return mode == EvFormatMode::kSrv6 && width() > kSrv6WidthWithoutSegment;
  }
};

// What to put into one slot: a fixed value, overlaid with bits of the EV where `mask` has ones. A
// field without a mask is constant (PATH-4).
struct EvField {
  std::uint32_t width = 0;  // bits
  std::uint32_t init = 0;
  std::uint32_t min = 0;  // the range from which generated EVs take the masked bits, as a number
  std::uint32_t max = 0;
  std::uint32_t mask = 0;
};
using EvFields = FixedVector<EvField, kEvSlotsMax>;

inline constexpr std::uint32_t kEvFieldWidthMax = 32;  // bits, of a field and of a slot

// The rule that a format or its fields break (PATH-7).
enum class FieldError : std::uint8_t {
  kSlotWidth,              // a slot has no bits, or more than a field can fill
  kFormatTooWide,          // the slots together exceed what the mode carries
  kTooManyFields,          // there are fewer slots than fields
  kFieldTooWide,           // a field has more than 32 bits
  kFieldsWiderThanFormat,  // the fields together have more bits than the slots together
  kFieldWiderThanSlot,     // a field would lose its high bits in its own slot
  kInitTooWide,            // a fixed value does not fit into its field
  kMaskTooWide,            // a mask reaches beyond its field
  kMaxTooLarge,            // a range holds numbers that the mask has not enough bits for
  kRangeEmpty,             // a range ends before it begins
};
std::string_view describe(FieldError error);

// Nothing if the fields can fill the format. Fields may be fewer than slots.
[[nodiscard]] Result<void, FieldError> check_fields(const EvFormat& format,
                                                    std::span<const EvField> fields);

// Fields that take every bit of every slot from the EV, so that it expands to itself: what a list
// of EVs without fields means.
EvFields identity_fields(const EvFormat& format);

enum class ExpandError : std::uint8_t {
  kBitsLeft,  // the EV has ones behind the last bit that a field takes (PATH-6)
};

// The caller has had the fields checked.
Result<EvBits, ExpandError> expand(const EvFormat& format, std::span<const EvField> fields,
                                   const EvBits& ev);

// The EV from which field i takes the number numbers[i], that fits into the ones of its mask.
EvBits pack_ev(std::span<const EvField> fields, std::span<const std::uint32_t> numbers);

}  // namespace openmrc::core
