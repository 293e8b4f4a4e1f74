// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/result/json_text.h"

#include <nlohmann/json.hpp>

namespace openmrc::sim {

std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace openmrc::sim
