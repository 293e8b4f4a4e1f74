// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/text/file_error.h"

// Both report everything that is wrong with the file.
namespace openmrc::fabric {

// A fabric file: TOML with the keys of shape_keys.h at the top level; or a scenario, of which only
// the section [fabric] is looked at.
Result<Shape, std::vector<text::FileError>> parse_fabric_toml(std::string_view text);

// A topology file of htsim, if it describes what a Shape can: two tiers, single links, no delay in
// switches. It becomes one plane.
Result<Shape, std::vector<text::FileError>> parse_htsim_topology(std::string_view text);

}  // namespace openmrc::fabric
