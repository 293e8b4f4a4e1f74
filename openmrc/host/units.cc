// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace openmrc::host {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t worth;
};

// Small units first.
constexpr Unit kTimes[]{{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};
constexpr Unit kBinarySizes[]{{"B", 1},
                              {"KiB", std::uint64_t{1} << 10},
                              {"MiB", std::uint64_t{1} << 20},
                              {"GiB", std::uint64_t{1} << 30}};
constexpr Unit kDecimalSizes[]{{"kB", 1'000}, {"MB", 1'000'000}, {"GB", 1'000'000'000}};
constexpr Unit kRates[]{{"bit", 1},
                        {"kbit", 1'000},
                        {"mbit", 1'000'000},
                        {"gbit", 1'000'000'000},
                        {"tbit", 1'000'000'000'000}};

// Of any amount: far from the end of 64 bits with a sign.
constexpr std::uint64_t kAmountMax = 1'000'000'000'000'000'000;

struct Decimal {
  std::uint64_t digits = 0;  // without the point
  std::uint64_t divisor = 1;
};

// Takes the number at the front of the text.
std::optional<Decimal> take_decimal(std::string_view& text) {
  Decimal number;
  bool in_fraction = false;
  std::size_t digits = 0;
  for (; !text.empty(); text.remove_prefix(1)) {
    const char c = text.front();
    if (c == '.' && !in_fraction && digits > 0) {
      in_fraction = true;
      digits = 0;
      continue;
    }
    if (c < '0' || c > '9') break;
    if (number.digits > kAmountMax / 10 - 1) return std::nullopt;
    number.digits = number.digits * 10 + static_cast<std::uint64_t>(c - '0');
    if (in_fraction) number.divisor *= 10;
    ++digits;
  }
  if (digits == 0 || number.divisor > kAmountMax) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> parse_amount(std::string_view text, std::span<const Unit> units) {
  const auto number = take_decimal(text);
  if (!number) return std::nullopt;
  while (text.starts_with(' ')) text.remove_prefix(1);
  const auto unit = std::ranges::find(units, text, &Unit::name);
  if (unit == units.end() || number->digits > kAmountMax / unit->worth) return std::nullopt;
  const std::uint64_t amount = number->digits * unit->worth;
  if (amount % number->divisor != 0) return std::nullopt;
  return amount / number->divisor;
}

// In the largest unit that leaves it whole.
std::string amount_text(std::uint64_t amount, std::span<const Unit> units) {
  const Unit* best = units.data();
  for (const Unit& unit : units) {
    if (amount != 0 && amount % unit.worth == 0) best = &unit;
  }
  return fmt::format("{}{}", amount / best->worth, best->name);
}

}  // namespace

std::optional<Duration> parse_time(std::string_view text) {
  const auto amount = parse_amount(text, kTimes);
  if (!amount) return std::nullopt;
  return Duration(static_cast<std::int64_t>(*amount));
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  if (const auto amount = parse_amount(text, kBinarySizes)) return amount;
  return parse_amount(text, kDecimalSizes);
}

std::optional<std::uint64_t> parse_bit_rate(std::string_view text) {
  return parse_amount(text, kRates);
}

std::string time_text(Duration time) {
  return amount_text(static_cast<std::uint64_t>(time.raw()), kTimes);
}
std::string bytes_text(std::uint64_t bytes) { return amount_text(bytes, kBinarySizes); }
std::string bit_rate_text(std::uint64_t bits_per_second) {
  return amount_text(bits_per_second, kRates);
}

}  // namespace openmrc::host
