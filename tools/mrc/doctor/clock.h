// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "openmrc/base/time.h"
#include "tools/mrc/doctor/findings.h"

namespace openmrc::tools::doctor {

// What it takes to read a clock: the best of many short rounds, so that other work of the machine
// does not count.
std::int64_t reading_time_ns(Instant (*read)());

// `source`: the kernel's clock source; empty if it is not known.
Finding judge_clock(std::string_view source, std::int64_t reading_ns);

}  // namespace openmrc::tools::doctor
