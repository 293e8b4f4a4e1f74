// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/fabric/emit/device.h"

namespace openmrc::fabric {

// Configuration of an Arista switch, EOS 4.34.2F or later, as far as its syntax is public. What is
// not, is a comment that says what is to be configured.
std::string eos_config(const Fabric& fabric, const Site& site, const Device& device);

}  // namespace openmrc::fabric
