// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/recent.h"

namespace openmrc::mapper {
namespace {

std::int64_t number_of(Instant now, Duration span) { return now.ns() / span.raw(); }

}  // namespace

void RecentCount::add(Instant now, std::uint64_t amount) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    const std::int64_t number = number_of(now, kRecentSpans[i]);
    if (number != part.number) {
      part = {.number = number, .before = number == part.number + 1 ? part.current : 0};
    }
    part.current += amount;
  }
}

RecentAmounts RecentCount::at(Instant now) const {
  RecentAmounts amounts{};
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    const std::int64_t passed = number_of(now, kRecentSpans[i]) - part.number;
    if (passed == 0) amounts[i] = part.current + part.before;
    if (passed == 1) amounts[i] = part.current;
  }
  return amounts;
}

}  // namespace openmrc::mapper
