// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "openmrc/base/result.h"
#include "openmrc/fabric/path.h"
#include "openmrc/fabric/usid_plan.h"

namespace openmrc::fabric {

// How much was looked at.
struct CheckedPlan {
  std::uint64_t switch_usids = 0;
  std::uint64_t host_usids = 0;  // over all T0s
  std::uint64_t inner_addresses = 0;
  std::uint64_t paths = 0;
  // How many of them have so many switches.
  std::array<std::uint64_t, kSwitchesWithAddressesMax + 1> paths_by_switches{};
};

// Tries a plan out, all of its addresses and a number of paths between hosts drawn at random:
//
// - every uSID is in the range of global ones, names what it was made of, and is unique: those of
//   switches everywhere, those of hosts at their T0, where they must differ from the switches' too;
// - every port's inner address leads back to the port, so that no two are alike;
// - a path has at most three switches, all in its own plane; its carrier, taken from switch to
//   switch, follows it link by link and ends at the right host; no other plane takes that carrier;
//   the two parts of the carrier make it up; and the choice can be read from it again.
//
// Or the first thing that is not so.
Result<CheckedPlan, std::string> check_plan(const UsidPlan& plan, std::uint64_t paths,
                                            std::uint64_t seed);

}  // namespace openmrc::fabric
