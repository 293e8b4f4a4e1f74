// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/fabric_file.h"
#include "openmrc/fabric/shape_keys.h"

namespace openmrc::fabric {

Result<Shape, std::vector<text::FileError>> parse_fabric_toml(std::string_view text) {
  const auto table = text::parse_toml(text);
  if (!table) return failure(std::vector{table.error()});
  return shape_from(*table);
}

}  // namespace openmrc::fabric
