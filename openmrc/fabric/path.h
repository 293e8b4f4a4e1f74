// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "openmrc/base/fixed_vector.h"
#include "openmrc/fabric/fabric.h"

namespace openmrc::fabric {

// With three tiers no path is longer.
inline constexpr std::size_t kSwitchesPerPathMax = 5;
// Nor than this where switches have addresses, with two tiers.
inline constexpr std::size_t kSwitchesWithAddressesMax = 3;

// The exact way of a packet: links[0] leads from the source to switches[0], links[i] from
// switches[i - 1] to switches[i], the last one to the destination.
struct Path {
  FixedVector<SwitchId, kSwitchesPerPathMax> switches{};
  FixedVector<LinkId, kSwitchesPerPathMax + 1> links{};

  bool operator==(const Path&) const = default;
};

// Hosts of one rack meet at their T0, whatever the uplink; so does a host with itself, which is how
// it probes its own T0.
Path path_between(const Fabric& fabric, HostIndex source, HostIndex destination, PathChoice choice);

// EVs are numbered 0 to Fabric::evs() - 1, all of plane 0 first, then those of plane 1, and so on.
std::uint32_t ev_number(const Fabric& fabric, PathChoice choice);
PathChoice ev_choice(const Fabric& fabric, std::uint32_t number);

}  // namespace openmrc::fabric
