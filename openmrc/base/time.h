// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstdint>

#include "openmrc/base/quantity.h"

namespace openmrc {

// A span of time in integer nanoseconds.
using Duration = Quantity<struct DurationTag>;

constexpr Duration nanoseconds(std::int64_t n) { return Duration(n); }
constexpr Duration microseconds(std::int64_t n) { return Duration(n * 1'000); }
constexpr Duration milliseconds(std::int64_t n) { return Duration(n * 1'000'000); }
constexpr Duration seconds(std::int64_t n) { return Duration(n * 1'000'000'000); }

// A point in time: nanoseconds since an epoch that the caller chose. Nothing in the pure folders
// can ask what time it is; whoever calls says so.
class Instant {
 public:
  constexpr Instant() = default;
  constexpr explicit Instant(std::int64_t ns_since_epoch) : ns_(ns_since_epoch) {}
  [[nodiscard]] constexpr std::int64_t ns() const { return ns_; }
  constexpr auto operator<=>(const Instant&) const = default;

  constexpr Instant operator+(Duration span) const { return Instant(ns_ + span.raw()); }
  constexpr Instant operator-(Duration span) const { return Instant(ns_ - span.raw()); }
  constexpr Duration operator-(Instant earlier) const { return Duration(ns_ - earlier.ns_); }

 private:
  std::int64_t ns_ = 0;
};

}  // namespace openmrc
