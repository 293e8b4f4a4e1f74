// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "openmrc/base/fixed_vector.h"
#include "openmrc/base/result.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/fabric/path.h"
#include "openmrc/fabric/usid_plan.h"
#include "openmrc/wire/field/ip_address.h"

namespace openmrc::fabric {

// What one switch does with a packet: it finds its own uSID in front, shifts it out, and sends the
// packet over the link that the next uSID names.
struct WalkStep {
  SwitchId at{};
  wire::Ipv6Address arrives{};  // outer destination before
  wire::Ipv6Address leaves{};   // and after
  LinkId out{};

  bool operator==(const WalkStep&) const = default;
};

struct Walk {
  FixedVector<WalkStep, kSwitchesWithAddressesMax> steps{};
  HostIndex host{};               // where it ends
  wire::Ipv6Address delivered{};  // outer destination that the host sees
};

enum class WalkFault : std::uint8_t {
  kNotForThisSwitch,  // a switch does not find its own uSID in front
  kNoNextHop,         // the next uSID names nothing that this switch is connected to
  kTooLong,           // a loop: more switches than a path can have
};
std::string_view describe(WalkFault fault);

// Sends a packet into the plane and goes along, asking at each switch only what that switch knows:
// its own uSID and those of its neighbours. What a fabric that was set up by the plan does with any
// address, right or wrong.
Result<Walk, WalkFault> walk(const UsidPlan& plan, HostIndex source, Plane plane,
                             const wire::UsidCarrier& carrier);

}  // namespace openmrc::fabric
