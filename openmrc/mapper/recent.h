// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "openmrc/base/time.h"

namespace openmrc::mapper {

// Whoever puts together what many agents have seen needs to know how much of it was when; each
// agent says so for the same spans.
inline constexpr std::array kRecentSpans{seconds(3),   seconds(10),    seconds(30),
                                         seconds(100), seconds(1'000), seconds(10'000)};
using RecentAmounts = std::array<std::uint64_t, kRecentSpans.size()>;

// How much there was recently: of each span the part that runs, and the whole one before.
class RecentCount {
 public:
  void add(Instant now, std::uint64_t amount);
  [[nodiscard]] RecentAmounts at(Instant now) const;

 private:
  struct Part {
    std::int64_t number = 0;  // of the span that runs
    std::uint64_t current = 0;
    std::uint64_t before = 0;
  };

  std::array<Part, kRecentSpans.size()> parts_{};
};

}  // namespace openmrc::mapper
