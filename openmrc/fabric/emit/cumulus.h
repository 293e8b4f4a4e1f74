// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/fabric/emit/device.h"

namespace openmrc::fabric {

// A file for `nv config patch` on Cumulus Linux 5.14 or later, Spectrum-4 or later.
std::string cumulus_config(const Fabric& fabric, const Site& site, const Device& device);

}  // namespace openmrc::fabric
