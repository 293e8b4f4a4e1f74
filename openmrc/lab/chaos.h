// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/fabric/names.h"
#include "openmrc/lab/faults.h"
#include "openmrc/lab/spec.h"

// Faults at random times, drawn from a seed.
namespace openmrc::lab {

struct ChaosFault {
  Duration at{};   // since the beginning
  Duration end{};  // when it is healed
  fabric::Element what{};
  Fault fault{};
  double flaps_hz = 0;  // kCut: it comes and goes so many times a second

  bool operator==(const ChaosFault&) const = default;
};
std::string to_string(const ChaosFault& fault);  // "cut p2.t0-1/up0 for 420ms"

// Sorted by time, all over by `span`. At any time one plane at least is whole, so that every host
// can reach every other; a lab needs two planes for that. The same seed gives the same list.
std::vector<ChaosFault> draw_chaos(const Spec& spec, std::uint64_t seed, Duration span);

// Lets them happen; `report` is called for each when it begins and when it is healed. All is healed
// at the end, also on Ctrl-C and after an error.
struct ChaosEvent {
  const ChaosFault& fault;
  bool healed;
  Moment moment;
};
Result<void, std::string> play_chaos(const Spec& spec, const std::vector<ChaosFault>& faults,
                                     Duration span,
                                     const std::function<void(const ChaosEvent&)>& report);

}  // namespace openmrc::lab
