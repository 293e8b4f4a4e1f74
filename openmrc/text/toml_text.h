// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "openmrc/text/toml.h"

namespace openmrc::text {

// The value as a file would write it, in one line; what reads it gets the same value. Empty if
// there is a date or a time of day in it.
std::optional<std::string> toml_text(const Value& value);

}  // namespace openmrc::text
