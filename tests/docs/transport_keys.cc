// SPDX-License-Identifier: BSD-3-Clause
// Prints the keys of the section [transport] as JSON, with their defaults in each preset, from the
// same table that reads them.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "openmrc/profile/transport_fields.h"

namespace {

using namespace openmrc;
using Json = nlohmann::ordered_json;

Json keys_of(profile::Preset preset) {
  profile::TransportProfile transport = profile::preset(preset);
  std::vector<text::Field> fields{profile::preset_field(preset)};
  for (const text::Field& field : profile::transport_fields(transport)) fields.push_back(field);
  Json keys;
  for (const text::Field& field : fields) {
    keys.push_back({{"name", field.name},
                    {"type", type_text(field)},
                    {"range", range_text(field)},
                    {"default", default_text(field)},
                    {"description", field.description}});
  }
  return keys;
}

}  // namespace

int main() {
  Json presets;
  for (const auto preset : {profile::Preset::kNic, profile::Preset::kSoftware}) {
    presets[std::string(name_of(preset))] = keys_of(preset);
  }
  fmt::print("{}\n", presets.dump(1));
  return 0;
}
