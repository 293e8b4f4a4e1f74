// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "openmrc/base/result.h"
#include "openmrc/text/file_error.h"
#include "openmrc/text/toml.h"

namespace openmrc::text {

// Changes one value of a file after it was parsed. `setting` is KEY=VALUE: a dotted key as in the
// file, and a TOML value, which replaces what is there. A number in the key is the place of an
// element in a list, from 0: fault.0.rate="1 %". Sections that are missing are added. What was set
// has line 0.
Result<void, FileError> apply_setting(Table& file, std::string_view setting);

}  // namespace openmrc::text
