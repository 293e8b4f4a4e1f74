// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/base/result.h"
#include "openmrc/text/fields.h"
#include "openmrc/text/toml.h"

namespace openmrc::text {

// Sets what the field stands for. A wrong value changes nothing; the error says what would be
// right.
Result<void, std::string> set_field(const Field& field, const Value& value);

}  // namespace openmrc::text
