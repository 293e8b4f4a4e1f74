// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/text/file_error.h"

namespace openmrc::fabric {

// A platform's port_config.ini of SONiC: what each port has, as pairs of field and value in the
// order of the columns. No fabric file can know it.
using PortConfig =
    std::map<std::string, std::vector<std::pair<std::string, std::string>>, std::less<>>;

inline constexpr std::size_t kPortConfigBytesMax = std::size_t{1024} * 1024;

// "# name lanes alias index speed", then a line for each port.
Result<PortConfig, text::FileError> parse_port_config(std::string_view text);

}  // namespace openmrc::fabric
