// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace openmrc::text {
namespace {

struct Suffix {
  std::string_view name;
  std::uint64_t worth;
};

constexpr std::uint64_t kKilo = 1'000;
constexpr std::uint64_t kMega = kKilo * kKilo;
constexpr std::uint64_t kGiga = kMega * kKilo;
constexpr std::uint64_t kTera = kGiga * kKilo;
constexpr std::uint64_t kKibi = 1'024;

// Small units first. Sizes are printed in the units of the first kSizesPrinted.
constexpr Suffix kTimeSuffixes[]{{"ns", 1}, {"us", kKilo}, {"ms", kMega}, {"s", kGiga}};
constexpr Suffix kFineTimeSuffixes[]{
    {"ps", 1}, {"ns", kKilo}, {"us", kMega}, {"ms", kGiga}, {"s", kTera}};
constexpr Suffix kSizeSuffixes[]{{"B", 1},
                                 {"KiB", kKibi},
                                 {"MiB", kKibi* kKibi},
                                 {"GiB", kKibi* kKibi* kKibi},
                                 {"TiB", kKibi* kKibi* kKibi* kKibi},
                                 {"kB", kKilo},
                                 {"KB", kKilo},
                                 {"MB", kMega},
                                 {"GB", kGiga},
                                 {"TB", kTera}};
constexpr std::size_t kSizesPrinted = 5;
constexpr Suffix kRateSuffixes[]{
    {"bit", 1}, {"kbit", kKilo}, {"mbit", kMega}, {"gbit", kGiga}, {"tbit", kTera}};
constexpr Suffix kShareSuffixes[]{{"%", kShareOne / 100}, {"", kShareOne}};

struct Dimension {
  std::string_view name;
  std::string_view example;
  std::string_view base;  // of which there must be a whole number
  std::span<const Suffix> units;
};
constexpr Dimension kDuration{"duration", "5s or 500ms", "nanoseconds", kTimeSuffixes};
constexpr Dimension kFineDuration{"duration", "5s or 500ms", "picoseconds", kFineTimeSuffixes};
constexpr Dimension kSize{"size", "64KiB", "bytes", kSizeSuffixes};
constexpr Dimension kRate{"rate", "10gbit", "bits", kRateSuffixes};
constexpr Dimension kShare{"share", "20% or 0.2", "billionths", kShareSuffixes};

struct Decimal {
  std::uint64_t digits = 0;  // without the point
  std::uint64_t divisor = 1;
};

enum class AmountError : std::uint8_t { kSyntax, kTooLarge, kInexact };

// Takes the number off the front of the text.
Result<Decimal, AmountError> take_decimal(std::string_view& text) {
  Decimal number;
  bool in_fraction = false;
  std::size_t digits = 0;  // before the point, then behind it
  for (; !text.empty(); text.remove_prefix(1)) {
    const char c = text.front();
    if (c == '.' && !in_fraction && digits > 0) {
      in_fraction = true;
      digits = 0;
      continue;
    }
    if (c < '0' || c > '9') break;
    // Zeros ahead of the first digit also make the divisor grow.
    if (number.digits >= kAmountMax / 10 || (in_fraction && number.divisor >= kAmountMax)) {
      return failure(in_fraction ? AmountError::kInexact : AmountError::kTooLarge);
    }
    number.digits = number.digits * 10 + static_cast<std::uint64_t>(c - '0');
    if (in_fraction) number.divisor *= 10;
    ++digits;
  }
  if (digits == 0) return failure(AmountError::kSyntax);
  return number;
}

Result<std::uint64_t, AmountError> parse_amount(std::string_view text,
                                                std::span<const Suffix> units) {
  const auto number = take_decimal(text);
  if (!number) return failure(number.error());
  while (text.starts_with(' ')) text.remove_prefix(1);
  const auto unit = std::ranges::find(units, text, &Suffix::name);
  if (unit == units.end()) return failure(AmountError::kSyntax);
  if (number->digits > kAmountMax / unit->worth) return failure(AmountError::kTooLarge);
  const std::uint64_t amount = number->digits * unit->worth;
  if (amount % number->divisor != 0) return failure(AmountError::kInexact);
  return amount / number->divisor;
}

std::string reason_text(AmountError error, const Dimension& dimension) {
  switch (error) {
    case AmountError::kSyntax: break;
    case AmountError::kTooLarge: return "too large";
    case AmountError::kInexact: return fmt::format("not a whole number of {}", dimension.base);
  }
  return fmt::format("expected e.g. {}", dimension.example);
}

Result<std::uint64_t, std::string> parse(std::string_view text, const Dimension& dimension) {
  const auto amount = parse_amount(text, dimension.units);
  if (amount) return *amount;
  return failure(fmt::format("invalid {} '{}': {}", dimension.name, text,
                             reason_text(amount.error(), dimension)));
}

template <class Time>
Result<Time, std::string> parse_time(std::string_view text, const Dimension& dimension) {
  const auto amount = parse(text, dimension);
  if (!amount) return failure(amount.error());
  return Time(static_cast<std::int64_t>(*amount));
}

// In the largest unit that leaves it whole.
std::string format(std::uint64_t amount, std::span<const Suffix> units) {
  const Suffix* best = units.data();
  for (const Suffix& unit : units) {
    if (amount != 0 && amount % unit.worth == 0) best = &unit;
  }
  return fmt::format("{}{}", amount / best->worth, best->name);
}

// Differences of two times can be negative.
std::string format_signed(std::int64_t amount, std::span<const Suffix> units) {
  if (amount >= 0) return format(static_cast<std::uint64_t>(amount), units);
  return "-" + format(0 - static_cast<std::uint64_t>(amount), units);
}

}  // namespace

Result<Duration, std::string> parse_duration(std::string_view text) {
  return parse_time<Duration>(text, kDuration);
}

Result<Picoseconds, std::string> parse_picoseconds(std::string_view text) {
  return parse_time<Picoseconds>(text, kFineDuration);
}

Result<std::uint64_t, std::string> parse_size(std::string_view text) { return parse(text, kSize); }

Result<std::uint64_t, std::string> parse_bit_rate(std::string_view text) {
  return parse(text, kRate);
}

Result<std::uint32_t, std::string> parse_share(std::string_view text) {
  const auto share = parse(text, kShare);
  if (!share) return failure(share.error());
  if (*share > kShareOne) {
    return failure(
        fmt::format("invalid share '{}': must be between 0% and 100%, or 0 and 1", text));
  }
  return static_cast<std::uint32_t>(*share);
}

std::string format_duration(Duration time) { return format_signed(time.raw(), kTimeSuffixes); }
std::string format_duration(Picoseconds time) {
  return format_signed(time.raw(), kFineTimeSuffixes);
}
std::string format_size(std::uint64_t bytes) {
  return format(bytes, std::span(kSizeSuffixes).first(kSizesPrinted));
}
std::string format_bit_rate(std::uint64_t bits_per_second) {
  return format(bits_per_second, kRateSuffixes);
}

}  // namespace openmrc::text
