// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ctime>

#include "openmrc/base/time.h"

namespace openmrc::host {

// The one clock of the runtime: nanoseconds since some moment before the start, never set back. It
// is also the clock of timerfd.
inline Instant now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return Instant(static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec);
}

}  // namespace openmrc::host
