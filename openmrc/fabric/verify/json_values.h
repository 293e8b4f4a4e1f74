// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "openmrc/base/result.h"

// Values of JSON that devices have printed. They may say anything: what is not there, or is
// something else than it should be, is empty.
namespace openmrc::fabric {

// What a device says becomes a part of commands that people paste into a shell: names, addresses
// and numbers, and nothing else.
std::string plain_text(std::string text);

std::string text_in(const nlohmann::json& object, const char* key);
std::optional<std::uint64_t> number_in(const nlohmann::json& object, const char* key);

// Any JSON that is neither too long nor too deep. The error names what printed it.
Result<nlohmann::json, std::string> parse_output(std::string_view text, std::string_view command);

// With its length.
std::string prefix_text(const std::string& to);

}  // namespace openmrc::fabric
