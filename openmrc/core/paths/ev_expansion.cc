// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/ev_expansion.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "openmrc/base/check.h"

namespace openmrc::core {
namespace {

constexpr std::size_t kBits = 8 * std::tuple_size_v<EvBits>;

static_assert(ev_width_max(EvFormatMode::kSrv6) == kBits, "the widest format fits exactly");

constexpr std::byte bit_of_byte(std::size_t at) { return std::byte{0x80} >> (at % 8); }

class BitReader {
 public:
  explicit BitReader(const EvBits& bits) : bits_(bits) {}

  // The next `count` bits as a number, at most 32.
  std::uint32_t take(std::uint32_t count) {
    OPENMRC_CHECK(at_ + count <= kBits, "fields take more bits than an EV has");
    std::uint32_t number = 0;
    for (const std::size_t end = at_ + count; at_ < end; ++at_) number = number << 1 | bit(at_);
    return number;
  }

  [[nodiscard]] bool only_zeros_left() const {
    for (std::size_t at = at_; at < kBits; ++at) {
      if (bit(at) != 0) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] std::uint32_t bit(std::size_t at) const {
    return (bits_[at / 8] & bit_of_byte(at)) != std::byte{0} ? 1 : 0;
  }

  const EvBits& bits_;
  std::size_t at_ = 0;
};

class BitWriter {
 public:
  // Appends the low `count` bits of `number`, at most 32.
  void put(std::uint32_t count, std::uint32_t number) {
    OPENMRC_CHECK(at_ + count <= kBits, "slots hold more bits than an EV has");
    for (std::uint32_t left = count; left > 0; --left, ++at_) {
      if ((number >> (left - 1) & 1) != 0) bits_[at_ / 8] |= bit_of_byte(at_);
    }
  }

  [[nodiscard]] const EvBits& bits() const { return bits_; }

 private:
  EvBits bits_{};
  std::size_t at_ = 0;
};

std::uint32_t ones(std::uint32_t mask) { return static_cast<std::uint32_t>(std::popcount(mask)); }

// `width` is at most 32.
constexpr bool fits(std::uint32_t value, std::uint32_t width) {
  return std::uint64_t{value} >> width == 0;
}

// Spreads the low bits of `number` over the ones of `mask`, keeping their order (PDEP; written out,
// because only one family of processors has it and a profile is expanded once).
std::uint32_t deposit(std::uint32_t number, std::uint32_t mask) {
  std::uint32_t spread = 0;
  for (; mask != 0; mask &= mask - 1, number >>= 1) {
    spread |= (number & 1) << std::countr_zero(mask);
  }
  return spread;
}

Result<void, FieldError> check_format(const EvFormat& format) {
  for (const std::uint8_t width : format.slot_widths) {
    if (width == 0 || width > kEvFieldWidthMax) return failure(FieldError::kSlotWidth);
  }
  if (format.width() > ev_width_max(format.mode)) return failure(FieldError::kFormatTooWide);
  return {};
}

Result<void, FieldError> check_widths(const EvFormat& format, std::span<const EvField> fields) {
  std::size_t sum = 0;
  for (const EvField& field : fields) {
    if (field.width > kEvFieldWidthMax) return failure(FieldError::kFieldTooWide);
    sum += field.width;
  }
  if (sum > format.width()) return failure(FieldError::kFieldsWiderThanFormat);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].width > format.slot_widths[i]) return failure(FieldError::kFieldWiderThanSlot);
  }
  return {};
}

Result<void, FieldError> check_values(const EvField& field) {
  if (!fits(field.init, field.width)) return failure(FieldError::kInitTooWide);
  if (!fits(field.mask, field.width)) return failure(FieldError::kMaskTooWide);
  if (!fits(field.max, ones(field.mask))) return failure(FieldError::kMaxTooLarge);
  if (field.min > field.max) return failure(FieldError::kRangeEmpty);
  return {};
}

}  // namespace

std::string_view describe(FieldError error) {
  switch (error) {
    case FieldError::kSlotWidth: return "a slot of the format does not have 1 to 32 bits";
    case FieldError::kFormatTooWide: return "the format has more bits than its mode carries";
    case FieldError::kTooManyFields: return "there are more fields than slots";
    case FieldError::kFieldTooWide: return "a field has more than 32 bits";
    case FieldError::kFieldsWiderThanFormat: return "the fields have more bits than the format";
    case FieldError::kFieldWiderThanSlot: return "a field has more bits than its slot";
    case FieldError::kInitTooWide: return "an initial value does not fit into its field";
    case FieldError::kMaskTooWide: return "a mask does not fit into its field";
    case FieldError::kMaxTooLarge: return "a maximum does not fit into the ones of its mask";
    case FieldError::kRangeEmpty: return "a minimum is above its maximum";
  }
  return "unknown field error";
}

Result<void, FieldError> check_fields(const EvFormat& format, std::span<const EvField> fields) {
  if (const auto result = check_format(format); !result) return failure(result.error());
  if (fields.size() > format.slot_widths.size()) return failure(FieldError::kTooManyFields);
  if (const auto result = check_widths(format, fields); !result) return failure(result.error());
  for (const EvField& field : fields) {
    if (const auto result = check_values(field); !result) return failure(result.error());
  }
  return {};
}

EvFields identity_fields(const EvFormat& format) {
  EvFields fields;
  for (const std::uint8_t width : format.slot_widths) {
    const auto all = static_cast<std::uint32_t>((std::uint64_t{1} << std::min<int>(width, 32)) - 1);
    fields.push_back({.width = width, .init = 0, .min = 0, .max = all, .mask = all});
  }
  return fields;
}

// PATH-5
Result<EvBits, ExpandError> expand(const EvFormat& format, std::span<const EvField> fields,
                                   const EvBits& ev) {
  OPENMRC_CHECK(fields.size() <= format.slot_widths.size(), "fields were not checked");
  BitReader from(ev);
  BitWriter to;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const EvField& field = fields[i];
    const std::uint32_t overlay = deposit(from.take(ones(field.mask)), field.mask);
    to.put(format.slot_widths[i], (field.init & ~field.mask) | overlay);
  }
  // Slots behind the last field stay zero.
  if (!from.only_zeros_left()) return failure(ExpandError::kBitsLeft);
  return to.bits();
}

EvBits pack_ev(std::span<const EvField> fields, std::span<const std::uint32_t> numbers) {
  OPENMRC_CHECK(fields.size() == numbers.size(), "one number for each field");
  BitWriter to;
  for (std::size_t i = 0; i < fields.size(); ++i) to.put(ones(fields[i].mask), numbers[i]);
  return to.bits();
}

}  // namespace openmrc::core
