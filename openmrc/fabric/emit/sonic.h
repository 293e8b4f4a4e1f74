// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "openmrc/fabric/emit/device.h"
#include "openmrc/fabric/emit/port_config.h"

namespace openmrc::fabric {

// config_db.json of a SONiC switch, 202505 or later: its ports, uN, static routes and neighbours,
// and the queues of MRC 8. `platform` may be empty; the device's own PORT table then has the rest.
std::string sonic_config_db(const Fabric& fabric, const Site& site, const Device& device,
                            const PortConfig& platform);

// Ports of the plan that the platform does not have.
std::vector<std::string> ports_missing(const Device& device, const PortConfig& platform);

}  // namespace openmrc::fabric
