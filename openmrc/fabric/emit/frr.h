// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/fabric/emit/device.h"

namespace openmrc::fabric {

// frr.conf of a switch: static routes, with one next hop for each uSID (two lines for a prefix
// would be ECMP, and no path would be exact), and from 10.3 on also its own uSID.
std::string frr_config(const Device& device, EmitKind kind);

// /etc/frr/daemons, as far as it matters.
std::string frr_daemons(EmitKind kind);

}  // namespace openmrc::fabric
