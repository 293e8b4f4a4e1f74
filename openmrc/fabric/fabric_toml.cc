// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/fabric_file.h"
#include "openmrc/fabric/shape_keys.h"

namespace openmrc::fabric {

Result<Shape, std::vector<text::FileError>> parse_fabric_toml(std::string_view text) {
  const auto table = text::parse_toml(text);
  if (!table) return failure(std::vector{table.error()});
  const text::Entry* const section = table->find("fabric");
  const auto* const in_scenario = section == nullptr ? nullptr : section->value.as<text::Table>();
  return in_scenario == nullptr ? shape_from(*table) : shape_from(*in_scenario, "fabric");
}

}  // namespace openmrc::fabric
