// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/fabric/emit/device.h"
#include "openmrc/fabric/verify/found.h"

// Whether a device is as planned. It says what differs and which command fixes it; it changes
// nothing itself.
namespace openmrc::fabric {

// Add a name in verify.cc for each.
enum class Mistake : std::uint8_t {
  kNoPort,     // an interface does not exist
  kPortDown,   // it is set down
  kNoCarrier,  // it is up, and the other end is not
  kMtu,
  kMac,
  kCable,  // leads to another device
  kNoAddress,
  kForeignAddress,  // an address of the fabric that is not this device's
  kNoNeighbour,     // a static entry is missing,
  kWrongNeighbour,  // or has another MAC address
  kDeadNeighbour,   // the other end does not answer
  kNoSegment,       // the device's own uSID is not there,
  kWrongSegment,    // or does something else
  kStaleSegment,    // a uSID that is not the device's
  kNoRoute,
  kWrongRoute,  // another next hop
  kManyRoutes,  // several next hops where the path must be exact
  kStaleRoute,  // within the fabric's prefixes, and not planned
  kNoBlackhole,
  kNoUplink,  // not all uplinks are used for packets that name no path
  kNoRule,    // UDP to a host's own uSID is not delivered
  kSetting,   // of the kernel
};
std::string_view name_of(Mistake mistake);

enum class Difference : std::uint8_t { kMissing, kWrong, kExtra };
std::string_view name_of(Difference difference);
Difference difference_of(Mistake mistake);

struct Finding {
  Mistake mistake{};
  std::string what{};    // is planned
  std::string found{};   // instead; may be empty
  std::string fix{};     // a command for the device; empty: hands are needed
  std::string prefix{};  // of a route or a segment
  std::string layer{};   // of the device, that lost it; empty: not known
};

// The settings of the kernel that matter for forwarding, as sysctl is asked for them.
std::vector<std::string> settings_to_read(const Device& device);

// `kind` says who puts routes in, and so what fixes them: iproute2, or FRR.
// Routes and segments alone, of a switch that says nothing else.
std::vector<Finding> verify_routes(const Device& device, EmitKind kind, std::uint32_t block,
                                   std::vector<FoundRoute> routes);
std::vector<Finding> verify(const Device& device, const Site& site, EmitKind kind,
                            std::uint32_t block, const Found& found);

}  // namespace openmrc::fabric
