// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/scenario_units.h"

#include <algorithm>
#include <optional>
#include <span>

namespace openmrc::sim {
namespace {

struct Suffix {
  std::string_view name;
  std::uint64_t worth;
};

constexpr Suffix kTimeSuffixes[]{
    {"ps", 1}, {"ns", 1'000}, {"us", 1'000'000}, {"ms", 1'000'000'000}, {"s", 1'000'000'000'000}};
constexpr Suffix kSizeSuffixes[]{{"B", 1},
                                 {"kB", 1'000},
                                 {"KB", 1'000},
                                 {"MB", 1'000'000},
                                 {"GB", 1'000'000'000},
                                 {"KiB", std::uint64_t{1} << 10},
                                 {"MiB", std::uint64_t{1} << 20},
                                 {"GiB", std::uint64_t{1} << 30}};
constexpr Suffix kShareSuffixes[]{{"%", kBillion / 100}};

constexpr std::uint64_t kMost = kTimeMax.raw();  // and of anything else
constexpr std::size_t kFractionDigitsMax = 18;   // of a power of ten that fits in 64 bits

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes the digits at the front of the text. Nothing if they make too large a number.
std::optional<std::uint64_t> take_digits(std::string_view& text, std::uint64_t value) {
  while (!text.empty() && is_digit(text.front())) {
    if (value > kMost / 10 - 1) return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(text.front() - '0');
    text.remove_prefix(1);
  }
  return value;
}

// The number at the front as value / divisor.
struct Decimal {
  std::uint64_t value = 0;
  std::uint64_t divisor = 1;
};

std::optional<Decimal> take_decimal(std::string_view& text) {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  const auto whole = take_digits(text, 0);
  if (!whole) return std::nullopt;
  Decimal number{.value = *whole};
  if (!text.starts_with('.')) return number;
  text.remove_prefix(1);
  const std::size_t before = text.size();
  const auto all = take_digits(text, number.value);
  const std::size_t digits = before - text.size();
  if (!all || digits == 0 || digits > kFractionDigitsMax) return std::nullopt;
  number.value = *all;
  for (std::size_t i = 0; i < digits; ++i) number.divisor *= 10;
  return number;
}

// Nothing if the text is not an amount in one of the units, too large, or not whole.
std::optional<std::uint64_t> parse_amount(std::string_view text, std::span<const Suffix> units) {
  const auto number = take_decimal(text);
  if (!number) return std::nullopt;
  while (text.starts_with(' ')) text.remove_prefix(1);
  const auto unit = std::ranges::find(units, text, &Suffix::name);
  if (unit == units.end()) return std::nullopt;
  if (number->value > kMost / unit->worth) return std::nullopt;
  const std::uint64_t amount = number->value * unit->worth;
  if (amount % number->divisor != 0) return std::nullopt;
  return amount / number->divisor;
}

}  // namespace

Result<Picoseconds, std::string> parse_time(std::string_view text) {
  const auto amount = parse_amount(text, kTimeSuffixes);
  if (amount) return Picoseconds(static_cast<std::int64_t>(*amount));
  return failure(std::string("must be a time with its unit (ns, us, ms or s), such as \"12 us\""));
}

Result<std::uint64_t, std::string> parse_bytes(std::string_view text) {
  const auto amount = parse_amount(text, kSizeSuffixes);
  if (amount) return *amount;
  return failure(
      std::string("must be a number of bytes, or a size such as \"64 KiB\" or \"2 MB\""));
}

Result<std::uint32_t, std::string> parse_share(std::string_view text) {
  const auto amount = parse_amount(text, kShareSuffixes);
  if (amount && *amount <= kBillion) return static_cast<std::uint32_t>(*amount);
  return failure(std::string("must be a share from 0 to 1, or from \"0 %\" to \"100 %\""));
}

}  // namespace openmrc::sim
