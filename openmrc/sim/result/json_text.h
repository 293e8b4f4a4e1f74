// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace openmrc::sim {

// On one line. A title may be anything; what is not UTF-8 in it is replaced.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace openmrc::sim
