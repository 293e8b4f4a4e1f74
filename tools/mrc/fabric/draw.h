// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/fabric/fabric.h"

namespace openmrc::tools {

// The fabric as a picture (SVG): a panel for each plane, with its T1s above its T0s above the
// hosts. Of a large one a sample is drawn, and the picture says so.
std::string draw_fabric(const fabric::Fabric& fabric);

}  // namespace openmrc::tools
