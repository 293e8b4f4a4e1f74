// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/toml_setting.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace openmrc::text {
namespace {

using Path = std::span<const std::string>;

void forget_lines(Value& value) {
  value.line = 0;
  if (auto* list = std::get_if<List>(&value.data)) {
    for (Value& element : *list) forget_lines(element);
  }
  auto* table = std::get_if<Table>(&value.data);
  if (table == nullptr) return;
  table->line = 0;
  for (Entry& entry : table->entries) {
    entry.line = 0;
    forget_lines(entry.value);
  }
}

// The parts of a dotted key, which may be quoted.
Result<std::vector<std::string>, std::string> parse_key(std::string_view key) {
  const auto parsed = parse_toml(fmt::format("{} = 0", key));
  if (!parsed) return failure(parsed.error().message);
  std::vector<std::string> path;
  for (const Table* at = &*parsed; at != nullptr;) {
    const Entry& entry = at->entries.front();
    path.push_back(entry.key);
    at = entry.value.as<Table>();
  }
  return path;
}

Result<Value, std::string> parse_value(std::string_view text) {
  auto parsed = parse_toml(fmt::format("value = {}", text));
  if (!parsed || parsed->entries.size() != 1) {
    return failure(
        fmt::format("'{}' is not a TOML value: a string needs quotes, e.g. \"8 MiB\"", text));
  }
  Value value = std::move(parsed->entries.front().value);
  forget_lines(value);
  return value;
}

Result<void, std::string> put(Value& at, Path path, Value value);

Result<void, std::string> put(Table& table, Path path, Value value) {
  auto entry = std::ranges::find(table.entries, path.front(), &Entry::key);
  if (entry == table.entries.end()) {
    table.entries.push_back({.key = path.front()});
    entry = table.entries.end() - 1;
    if (path.size() > 1) entry->value.data = Table{};
  }
  if (path.size() == 1) entry->line = 0;
  return put(entry->value, path.subspan(1), std::move(value));
}

Result<void, std::string> put(List& list, Path path, Value value) {
  const std::string& place = path.front();
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(place.data(), place.data() + place.size(), index);
  if (error != std::errc{} || end != place.data() + place.size() || index >= list.size()) {
    return failure(
        fmt::format("the list has {} elements, numbered from 0, and no '{}'", list.size(), place));
  }
  return put(list[index], path.subspan(1), std::move(value));
}

Result<void, std::string> put(Value& at, Path path, Value value) {
  if (path.empty()) {
    at = std::move(value);
    return {};
  }
  if (auto* table = std::get_if<Table>(&at.data)) return put(*table, path, std::move(value));
  if (auto* list = std::get_if<List>(&at.data)) return put(*list, path, std::move(value));
  return failure(fmt::format("there is no '{}' in {}", path.front(), shown(at)));
}

Result<void, std::string> apply(Table& file, std::string_view key, std::string_view value) {
  const auto path = parse_key(key);
  if (!path) return failure(path.error());
  auto parsed = parse_value(value);
  if (!parsed) return failure(parsed.error());
  return put(file, *path, *std::move(parsed));
}

}  // namespace

Result<void, FileError> apply_setting(Table& file, std::string_view setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string_view::npos || setting.find('\n') != std::string_view::npos) {
    return failure(
        FileError{.message = fmt::format(
                      "invalid setting '{}': expected KEY=VALUE, e.g. transport.evs=64", setting)});
  }
  const std::string_view key = setting.substr(0, equals);
  const auto applied = apply(file, key, setting.substr(equals + 1));
  if (applied) return {};
  return failure(FileError{.key = std::string(key), .message = applied.error()});
}

}  // namespace openmrc::text
