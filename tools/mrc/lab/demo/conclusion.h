// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "openmrc/base/time.h"

namespace openmrc::lab {

// What a demo measured. Rates are goodput in Gb/s.
struct DemoResult {
  std::uint32_t planes = 0;
  std::uint32_t cut_plane = 0;
  double link_gbps = 0;
  double before_gbps = 0;  // with all planes
  double during_gbps = 0;  // without the one that is cut
  // How long it took to reach what is left after the cut, and all of it after the repair; nothing:
  // longer than was looked for.
  std::optional<Duration> left_after;
  std::optional<Duration> back_after;
  std::uint64_t verified_messages = 0;
};

// In one paragraph. If the links were not full, so that a cut costs nothing, it says that, too.
std::string conclusion_of(const DemoResult& result);

}  // namespace openmrc::lab
