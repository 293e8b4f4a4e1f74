// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "openmrc/base/picoseconds.h"
#include "openmrc/base/rng.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/result/result.h"
#include "openmrc/sim/scenario/faults.h"
#include "openmrc/sim/scenario/scenario_faults.h"

// Parts that fail and are repaired, again and again, at random times.
namespace openmrc::sim {

// What fails as one. The links of a transceiver fail together.
enum class FailingPart : std::uint8_t {
  kUplinks,
  kHostLinks,
  kT0s,
  kT1s,
  kT1Uplinks,
  kT2s,
  kUplinkTransceivers,    // of uplinks of a T0 that follow each other
  kDownlinkTransceivers,  // of links of a T0 to hosts that follow each other
  kNicTransceivers,       // of links of a host in planes that follow each other
};

// How the time is distributed that a repair takes.
enum class RepairTime : std::uint8_t { kExponential, kFixed, kLognormal };

struct FailureProcess {
  FailingPart part = FailingPart::kUplinks;
  std::uint32_t links = 1;  // of a transceiver; the last one of a switch or host may have fewer
  Picoseconds from{};       // all parts work until then
  Picoseconds until{};      // none fails after that; repairs may end later
  Picoseconds mtbf{};       // mean time that a part works until it fails; exponentially distributed
  Picoseconds mttr{};       // mean time until it works again
  RepairTime repair = RepairTime::kExponential;
  std::uint32_t sigma_percent = 100;  // of a lognormal repair time
  Breakage breakage{};
  // Losses that get worse: from the rate in `breakage` to this, in `steps` equal steps.
  std::uint32_t worst_loss_per_billion = 0;
  std::uint32_t steps = 1;
};

inline constexpr std::uint32_t kLossStepsMax = 16;
// Links or switches that fail, each time counted: more than a run would come to.
inline constexpr std::size_t kFailuresMax = 1'000'000;

std::uint64_t count_of(const FailureProcess& process, const fabric::Fabric& fabric);
// The links of one, from 0, or the switch.
std::vector<fabric::Element> failing_part(const FailureProcess& process, std::uint64_t index,
                                          const fabric::Fabric& fabric);

// What happens to all parts. Each draws from a stream of its own, so that one fails at the same
// times whatever others do. False if there are too many; then some are missing.
bool sample_failures(const FailureProcess& process, const fabric::Fabric& fabric, const Rng& rng,
                     std::vector<LinkFault>& faults, std::vector<FaultNote>& notes);

}  // namespace openmrc::sim
