// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/field_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace openmrc::text {
namespace {

using Kind = Field::Kind;
using Number = Result<std::uint64_t, std::string>;

Number wrong_type(const Value& value, std::string_view right) {
  return failure(fmt::format("must be {}, not {}", right, shown(value)));
}

Number whole_in(const Value& value) {
  const auto* whole = value.as<std::int64_t>();
  if (whole == nullptr) return wrong_type(value, "a whole number");
  if (*whole < 0) return wrong_type(value, "0 or more");
  return static_cast<std::uint64_t>(*whole);
}

std::optional<double> number_in(const Value& value) {
  if (const auto* whole = value.as<std::int64_t>()) return static_cast<double>(*whole);
  if (const auto* number = value.as<double>()) return *number;
  return std::nullopt;
}

bool is_zero(const Value& value) {
  const auto* whole = value.as<std::int64_t>();
  return whole != nullptr && *whole == 0;
}

// Zero needs no unit.
template <class T>
Number duration_in(const Value& value, Result<T, std::string> (*parse)(std::string_view)) {
  if (is_zero(value)) return 0;
  const auto* text = value.as<std::string>();
  if (text == nullptr) return wrong_type(value, "a duration with its unit, e.g. \"10ms\"");
  const auto time = parse(*text);
  if (!time) return failure(time.error());
  return static_cast<std::uint64_t>(time->raw());
}

Number bytes_in(const Value& value) {
  if (const auto* text = value.as<std::string>()) return parse_size(*text);
  if (value.as<std::int64_t>() != nullptr) return whole_in(value);
  return wrong_type(value, "a number of bytes or a size, e.g. \"64KiB\"");
}

Number rate_in(const Value& value) {
  const auto* text = value.as<std::string>();
  if (text == nullptr) return wrong_type(value, "a rate with its unit, e.g. \"10gbit\"");
  return parse_bit_rate(*text);
}

// `most` keeps the product in range; what is not a number compares false.
Number gbps_in(const Value& value, std::uint64_t most) {
  const auto number = number_in(value);
  if (!number) return wrong_type(value, "a number");
  if (!(*number > 0 && *number <= static_cast<double>(most) / kBitsPerGigabit)) {
    return failure(fmt::format("must be above 0 and at most {}, not {}",
                               static_cast<double>(most) / kBitsPerGigabit, shown(value)));
  }
  return static_cast<std::uint64_t>(std::llround(*number * kBitsPerGigabit));
}

Number share_in(const Value& value) {
  if (const auto* text = value.as<std::string>()) return parse_share(*text);
  const auto number = number_in(value);
  if (!number || !(*number >= 0 && *number <= 1)) {
    return wrong_type(value, "a number between 0 and 1 or a percentage, e.g. \"20%\"");
  }
  const auto billionths = static_cast<std::uint64_t>(std::llround(*number * kShareOne));
  if (static_cast<double>(billionths) / kShareOne == *number) return billionths;
  return failure(fmt::format("must have at most 9 decimals, not {}", shown(value)));
}

Number flag_in(const Value& value) {
  const auto* flag = value.as<bool>();
  if (flag == nullptr) return wrong_type(value, "true or false");
  return *flag ? 1 : 0;
}

Number word_in(const Value& value, const Field& field) {
  const auto* text = value.as<std::string>();
  const auto word = std::ranges::find(field.words, text != nullptr ? *text : std::string_view());
  if (word != field.words.end()) return static_cast<std::uint64_t>(word - field.words.begin());
  return wrong_type(value, fmt::format("one of {}", range_text(field)));
}

Number any_number_in(const Value& value, const Field& field) {
  switch (field.kind) {
    case Kind::kDuration: return duration_in(value, parse_duration);
    case Kind::kPicoseconds: return duration_in(value, parse_picoseconds);
    case Kind::kBytes: return bytes_in(value);
    case Kind::kRate: return rate_in(value);
    case Kind::kGbps: return gbps_in(value, field.most);
    case Kind::kShare: return share_in(value);
    case Kind::kFlag: return flag_in(value);
    case Kind::kWord: return word_in(value, field);
    case Kind::kWhole:
    case Kind::kHex:
    case Kind::kText: break;
  }
  return whole_in(value);
}

Result<void, std::string> set_text(const Field& field, const Value& value) {
  const auto* text = value.as<std::string>();
  if (text == nullptr) {
    return failure(fmt::format("must be a string in quotes, not {}", shown(value)));
  }
  if (text->empty()) return failure(std::string("must not be empty; remove the key instead"));
  *field.text = *text;
  return {};
}

std::string out_of_range(const Field& field, const Value& value) {
  if (field.most == kWholeMax) {
    return fmt::format("must be {} or more, not {}", value_text(field, field.least), shown(value));
  }
  return fmt::format("must be between {} and {}, not {}", value_text(field, field.least),
                     value_text(field, field.most), shown(value));
}

bool is_negative(const Value& value) {
  const auto* whole = value.as<std::int64_t>();
  return whole != nullptr && *whole < 0;
}

}  // namespace

Result<void, std::string> set_field(const Field& field, const Value& value) {
  if (field.kind == Kind::kText) return set_text(field, value);
  const bool counts =
      field.kind == Kind::kWhole || field.kind == Kind::kHex || field.kind == Kind::kBytes;
  if (counts && is_negative(value)) return failure(out_of_range(field, value));
  const auto number = any_number_in(value, field);
  if (!number) return failure(number.error());
  if (*number < field.least || *number > field.most) return failure(out_of_range(field, value));
  field.set(*number);
  return {};
}

}  // namespace openmrc::text
