// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/toml.h"

#include <fmt/format.h>

// toml++ asserts where it should look, or lets the compiler assume; what comes behind reports the
// error. A wrong file is no mistake of the program.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
#define TOML_EXCEPTIONS 0  // NOLINT(readability-identifier-naming): of toml++
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <algorithm>
#include <utility>

#include "openmrc/text/file_limits.h"
#include "openmrc/text/shielded_utf8.h"

namespace openmrc::text {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

Value value_of(const toml::node& node);

Table table_of(const toml::table& from) {
  // toml++ sorts by name.
  std::vector<std::pair<const toml::key*, const toml::node*>> nodes;
  for (const auto& [key, node] : from) nodes.emplace_back(&key, &node);
  std::ranges::stable_sort(nodes, {}, [](const auto& pair) {
    const toml::source_position& begin = pair.first->source().begin;
    return std::pair(begin.line, begin.column);
  });
  Table table;
  table.line = from.source().begin.line;
  for (const auto& [key, node] : nodes) {
    table.entries.push_back({.key = unshielded(key->str()),
                             .line = key->source().begin.line,
                             .value = value_of(*node)});
  }
  return table;
}

List list_of(const toml::array& from) {
  List list;
  for (const toml::node& element : from) list.push_back(value_of(element));
  return list;
}

Value value_of(const toml::node& node) {
  Value value{.data = {}, .line = node.source().begin.line};
  if (const auto* flag = node.as_boolean()) value.data = flag->get();
  if (const auto* whole = node.as_integer()) value.data = whole->get();
  if (const auto* number = node.as_floating_point()) value.data = number->get();
  if (const auto* text = node.as_string()) value.data = unshielded(text->get());
  if (const auto* list = node.as_array()) value.data = list_of(*list);
  if (const auto* table = node.as_table()) value.data = table_of(*table);
  return value;
}

}  // namespace

Table::Table() = default;
Table::Table(std::vector<Entry> all) : entries(std::move(all)) {}
Table::Table(const Table&) = default;
Table::Table(Table&&) noexcept = default;
Table& Table::operator=(const Table&) = default;
Table& Table::operator=(Table&&) noexcept = default;
Table::~Table() = default;

const Entry* Table::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &Entry::key);
  return found == entries.end() ? nullptr : &*found;
}

Result<Table, FileError> parse_toml(std::string_view text) {
  if (auto fits = check_toml_limits(text); !fits) return failure(std::move(fits.error()));
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (!is_utf8(text)) return failure(FileError{.message = "invalid TOML: the text is not UTF-8"});
  const toml::parse_result parsed = toml::parse(shielded(text));
  if (parsed) {
    Table file = table_of(parsed.table());
    file.line = 0;
    return file;
  }
  const toml::parse_error& error = parsed.error();
  return failure(
      FileError{.line = error.source().begin.line,
                .message = fmt::format("invalid TOML: {}", unshielded(error.description()))});
}

std::string shown(const Value& value) {
  if (const auto* text = value.as<std::string>()) return fmt::format("\"{}\"", *text);
  if (const auto* whole = value.as<std::int64_t>()) return fmt::format("{}", *whole);
  if (const auto* number = value.as<double>()) return fmt::format("{}", *number);
  if (const auto* flag = value.as<bool>()) return *flag ? "true" : "false";
  if (value.as<Table>() != nullptr) return "a table";
  if (value.as<List>() != nullptr) return "a list";
  return "a date or time of day";
}

bool is_list_of_tables(const Value& value) {
  const auto* list = value.as<List>();
  return list != nullptr && std::ranges::all_of(*list, [](const Value& element) {
           return element.as<Table>() != nullptr;
         });
}

}  // namespace openmrc::text
