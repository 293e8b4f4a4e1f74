// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/fields.h"

#include <fmt/format.h>

namespace openmrc::text {
namespace {

using Kind = Field::Kind;

std::string words_text(std::span<const std::string_view> words) {
  std::string all;
  for (const std::string_view word : words) {
    all += fmt::format("{}\"{}\"", all.empty() ? "" : ", ", word);
  }
  return all;
}

}  // namespace

std::string Field::full_name() const {
  return section.empty() ? std::string(name) : fmt::format("{}.{}", section, name);
}

Field Field::duration(std::string_view name, Duration& value, Duration least, Duration most) {
  return number(Kind::kDuration, name, value, detail::to_number(least), detail::to_number(most));
}

Field Field::duration(std::string_view name, Picoseconds& value, Picoseconds least,
                      Picoseconds most) {
  return number(Kind::kPicoseconds, name, value, detail::to_number(least), detail::to_number(most));
}

Field Field::flag(std::string_view name, bool& value) {
  return number(Kind::kFlag, name, value, 0, 1);
}

Field Field::string(std::string_view name, std::string& value) {
  return {.name = name, .kind = Kind::kText, .text = &value};
}

Field& Section::add(Field field) {
  field.section = name_;
  return fields_.emplace_back(std::move(field));
}

std::string value_text(const Field& field, std::uint64_t value) {
  switch (field.kind) {
    case Kind::kHex: return fmt::format("{:#x}", value);
    case Kind::kDuration:
      return fmt::format("\"{}\"", format_duration(detail::from_number<Duration>(value)));
    case Kind::kPicoseconds:
      return fmt::format("\"{}\"", format_duration(detail::from_number<Picoseconds>(value)));
    case Kind::kBytes: return fmt::format("\"{}\"", format_size(value));
    case Kind::kRate: return fmt::format("\"{}\"", format_bit_rate(value));
    case Kind::kGbps: return fmt::format("{}", static_cast<double>(value) / kBitsPerGigabit);
    case Kind::kShare: return fmt::format("{}", static_cast<double>(value) / kShareOne);
    case Kind::kFlag: return value != 0 ? "true" : "false";
    case Kind::kWord: return fmt::format("\"{}\"", field.words[value]);
    case Kind::kWhole:
    case Kind::kText: break;
  }
  return fmt::format("{}", value);
}

std::string range_text(const Field& field) {
  switch (field.kind) {
    case Kind::kWord: return words_text(field.words);
    case Kind::kGbps: return fmt::format("above 0, at most {}", value_text(field, field.most));
    case Kind::kFlag:
    case Kind::kText: return {};
    default: break;
  }
  if (field.most == kWholeMax) return fmt::format("{} or more", value_text(field, field.least));
  return fmt::format("{} to {}", value_text(field, field.least), value_text(field, field.most));
}

std::string default_text(const Field& field) {
  if (!field.otherwise.empty()) return std::string(field.otherwise);
  if (field.text != nullptr) return fmt::format("\"{}\"", *field.text);
  return value_text(field, field.get());
}

std::string_view type_text(const Field& field) {
  switch (field.kind) {
    case Kind::kWhole:
    case Kind::kHex: return "whole number";
    case Kind::kDuration:
    case Kind::kPicoseconds: return "duration";
    case Kind::kBytes: return "size";
    case Kind::kRate: return "rate";
    case Kind::kGbps:
    case Kind::kShare: return "number";
    case Kind::kFlag: return "true or false";
    case Kind::kText: return "text";
    case Kind::kWord: return "word";
  }
  return {};
}

}  // namespace openmrc::text
