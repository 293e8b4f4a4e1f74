// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

// What is said of a bad link.
namespace openmrc::tools {

std::string loss_text(double ratio);   // "38 %", "0.12 %"
std::string age_text(double seconds);  // "14.4 s", "3 min", "1.5 h"

}  // namespace openmrc::tools
