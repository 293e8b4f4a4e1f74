// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/fabric/emit/device.h"
#include "openmrc/fabric/verify/found.h"

namespace openmrc::fabric {

// Commands that fix routes of a device. Who puts a route in fixes it: iproute2, or FRR, which
// would put back what others change.
class Fixer {
 public:
  Fixer(const Device& device, EmitKind kind) : device_(device), kind_(kind) {}

  [[nodiscard]] std::string add(const DeviceRoute& route, const DevicePort* port) const;
  [[nodiscard]] std::string remove(const FoundRoute& route) const;
  // One in place of what leads elsewhere.
  [[nodiscard]] std::string replace(const FoundRoute& found, const DeviceRoute& route,
                                    const DevicePort* port) const;

  // Of the route for packets that name no path.
  [[nodiscard]] std::string add_uplink(const FoundHop& hop) const;
  [[nodiscard]] std::string remove_uplink(const FoundHop& hop) const;

 private:
  [[nodiscard]] bool has_frr() const;

  const Device& device_;
  EmitKind kind_;
};

}  // namespace openmrc::fabric
