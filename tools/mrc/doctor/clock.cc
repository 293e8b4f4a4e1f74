// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/doctor/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

namespace openmrc::tools::doctor {
namespace {

constexpr int kRounds = 100;
constexpr int kReadings = 100;       // of a round
constexpr std::int64_t kSlow = 500;  // more than any clock that is read without a system call

// Of processors that are read without a system call.
constexpr std::string_view kFastSource = "tsc";

std::string remedy_for(std::string_view source) {
  if (source != kFastSource)
    return "boot with clocksource=tsc if the processor's counter is steady";
  return "the clock source is the fast one; if this machine is a virtual one, its hypervisor may "
         "intercept the counter";
}

}  // namespace

std::int64_t reading_time_ns(Instant (*read)()) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (int round = 0; round < kRounds; ++round) {
    const Instant begin = read();
    for (int i = 1; i < kReadings; ++i) (void)read();
    least = std::min(least, (read() - begin).raw() / kReadings);
  }
  return least;
}

Finding judge_clock(std::string_view source, std::int64_t reading_ns) {
  const std::string found =
      fmt::format("{}, read in {} ns", source.empty() ? "unknown" : source, reading_ns);
  if (reading_ns < kSlow) return {Grade::kOk, "clock", found, {}, {}};
  return {Grade::kWarn, "clock", found + ": slow, and each burst reads it", remedy_for(source), {}};
}

}  // namespace openmrc::tools::doctor
