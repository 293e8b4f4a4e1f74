// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/fabric/emit/device.h"

namespace openmrc::fabric {

// openmrc.toml of a host (docs/guide/configuration.md).
std::string host_config(const UsidPlan& plan, const Site& site, const Device& device);

}  // namespace openmrc::fabric
