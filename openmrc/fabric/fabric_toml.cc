// SPDX-License-Identifier: BSD-3-Clause
#include <toml++/toml.h>

#include <algorithm>
#include <vector>

#include "openmrc/fabric/fabric_file.h"

static_assert(!TOML_EXCEPTIONS, "pure code throws nothing");

namespace openmrc::fabric {
namespace {

KeyValue key_value(const toml::key& key, const toml::node& node) {
  KeyValue pair{.key = key.str(), .value = {}, .line = key.source().begin.line};
  if (const auto* whole = node.as_integer()) pair.value = whole->get();
  if (const auto* fraction = node.as_floating_point()) pair.value = fraction->get();
  return pair;
}

}  // namespace

Result<Shape, FileError> parse_fabric_toml(std::string_view text) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    return failure(FileError{.line = parsed.error().source().begin.line,
                             .key = {},
                             .message = std::string(parsed.error().description())});
  }
  std::vector<KeyValue> keys;
  for (const auto& [key, node] : parsed.table()) keys.push_back(key_value(key, node));
  // The table is sorted by name; a reader expects to hear of the first line that is wrong.
  std::ranges::stable_sort(keys, {}, &KeyValue::line);
  return shape_from(keys);
}

}  // namespace openmrc::fabric
