// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/fabric/emit/device.h"

// Linux as a host or a switch: lines for `ip -6 -batch`, and scripts of them. Labs are built from
// the same lines.
namespace openmrc::fabric {

// The interface that seg6local routes of a switch need, which no cable is connected to: a route
// vanishes with its interface. What is sent over it comes back at its peer.
inline constexpr std::string_view kSegmentInterface = "sr0";
inline constexpr std::string_view kSegmentPeer = "sr1";

// Which routes a script has; a routing daemon may have the others.
enum class ScriptRoutes : std::uint8_t {
  kAll,
  kSegments,  // only seg6local
  kNone,
};

// One end of a cable with all that goes when it is set down; each line may be repeated.
std::vector<std::string> iproute2_port_lines(const Device& device, const DevicePort& port,
                                             std::uint32_t mtu,
                                             ScriptRoutes routes = ScriptRoutes::kAll);
// What depends on no cable.
std::vector<std::string> iproute2_device_lines(const Device& device,
                                               ScriptRoutes routes = ScriptRoutes::kAll);
// Nor that, and may be there only once.
std::vector<std::string> iproute2_once_lines(const Device& device, std::uint32_t block);
// Packets to other racks by all uplinks that are up; empty if there is none.
using PortTest = std::function<bool(std::string_view port)>;
std::string iproute2_way_up_line(const Device& device, const PortTest& is_up);

// One route as `ip` takes it, without "route replace"; by `port`, or by none.
std::string iproute2_route(const DeviceRoute& route, const DevicePort* port);

// Settings of the kernel, as sysctl takes them: for all interfaces and for those that are to come.
std::vector<std::string> kernel_settings(const Device& device);
// And for one that is there.
std::vector<std::string> kernel_port_settings(const Device& device, const DevicePort& port);

// A shell script that may be repeated.
std::string iproute2_script(const Device& device, const Site& site, std::uint32_t block,
                            ScriptRoutes routes);

}  // namespace openmrc::fabric
