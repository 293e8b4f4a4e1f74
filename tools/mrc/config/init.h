// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "tools/mrc/config/interfaces.h"

namespace openmrc::tools::config {

// An openmrc.toml with a plane for each of the interfaces, every line explained.
[[nodiscard]] std::string config_text(const std::string& host, const Choice& choice);

}  // namespace openmrc::tools::config
