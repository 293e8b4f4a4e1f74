// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/fabric/emit/device.h"

namespace openmrc::fabric {

// A topology of containers: every device with the script of its own folder beside the file.
std::string containerlab_topology(const UsidPlan& plan, const Site& site);

}  // namespace openmrc::fabric
