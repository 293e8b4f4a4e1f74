// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/table_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "openmrc/text/field_value.h"
#include "openmrc/text/suggest.h"
#include "openmrc/text/toml_setting.h"

namespace openmrc::text {
namespace {

Result<Table, FileError> parse_with_settings(std::string_view text,
                                             std::span<const std::string> settings) {
  auto file = parse_toml(text);
  if (!file) return file;
  for (const std::string& setting : settings) {
    if (const auto applied = apply_setting(*file, setting); !applied) {
      return failure(applied.error());
    }
  }
  return file;
}

}  // namespace

TableReader::TableReader(const Table& table, std::string section, Diagnostics& diagnostics,
                         KnownKeys& known)
    : table_(table), section_(std::move(section)), diagnostics_(diagnostics), known_keys_(known) {}

std::string TableReader::full_name(std::string_view key) const {
  return section_.empty() ? std::string(key) : fmt::format("{}.{}", section_, key);
}

void TableReader::expect(std::string_view key, std::string shown) {
  if (std::ranges::find(known_, key, &Known::name) != known_.end()) return;
  known_.push_back({.name = std::string(key), .shown = std::move(shown)});
}

const Value* TableReader::find(std::string_view key) {
  expect(key, fmt::format("'{}'", key));
  known_keys_.emplace(section_, key);
  const Entry* entry = table_.find(key);
  if (entry == nullptr) return nullptr;
  diagnostics_.add_key(full_name(key), entry->line);
  return &entry->value;
}

bool TableReader::read(const Field& field) {
  const Value* value = find(field.name);
  if (value == nullptr) return false;
  read_value(field, *value);
  return true;
}

bool TableReader::read_value(const Field& field, const Value& value) {
  auto result = set_field(field, value);
  if (!result) error_at(value, field.name, std::move(result.error()));
  return result.has_value();
}

void TableReader::read(std::span<const Field> fields) {
  for (const Field& field : fields) {
    if (field.section == section_) {
      read(field);
    } else if (TableReader* inner = section(field.section)) {
      inner->read(field);
    } else {
      known_keys_.emplace(field.section, field.name);
    }
  }
}

std::vector<const Value*> TableReader::elements(std::string_view key) {
  const Value* value = find(key);
  if (value == nullptr) return {};
  const auto* list = value->as<List>();
  if (list == nullptr) return {value};
  std::vector<const Value*> result;
  for (const Value& element : *list) result.push_back(&element);
  return result;
}

TableReader* TableReader::section(std::string_view key) {
  const auto found = sections_.find(key);
  if (found != sections_.end()) return found->second.get();
  return open_section(key);
}

TableReader* TableReader::require_section(std::string_view key) {
  if (!has(key)) error_here(fmt::format("[{}] is missing", full_name(key)));
  return section(key);
}

TableReader* TableReader::open_section(std::string_view key) {
  expect(key, fmt::format("[{}]", full_name(key)));
  std::unique_ptr<TableReader>& reader = sections_[std::string(key)];
  const Entry* entry = table_.find(key);
  if (entry == nullptr) return nullptr;
  if (const auto* table = entry->value.as<Table>()) {
    diagnostics_.add_key(full_name(key), entry->line);
    reader = std::make_unique<TableReader>(*table, full_name(key), diagnostics_, known_keys_);
  } else if (is_list_of_tables(entry->value)) {
    error(key, fmt::format("is a single section: write [{0}], not [[{0}]]", full_name(key)));
  } else {
    error(key, fmt::format("is a section: write [{}] and its keys below", full_name(key)));
  }
  return reader.get();
}

void TableReader::for_each_table(std::string_view key,
                                 const std::function<void(TableReader&)>& read_table) {
  expect(key, fmt::format("[[{}]]", full_name(key)));
  const Entry* entry = table_.find(key);
  if (entry == nullptr) return;
  diagnostics_.add_key(full_name(key), entry->line);
  if (!is_list_of_tables(entry->value)) {
    error(key, fmt::format("is a list of tables: write [[{}]] once for each", full_name(key)));
    return;
  }
  for (const Value& element : *entry->value.as<List>()) {
    TableReader reader(*element.as<Table>(), full_name(key), diagnostics_, known_keys_);
    read_table(reader);
    reader.finish();
    ok_ = ok_ && reader.ok();
  }
}

std::uint32_t TableReader::line_of(std::string_view key) const {
  const Entry* entry = table_.find(key);
  return entry == nullptr ? 0 : entry->line;
}

bool TableReader::ok() const {
  return ok_ && std::ranges::all_of(sections_, [](const auto& section) {
           return section.second == nullptr || section.second->ok();
         });
}

void TableReader::report(std::uint32_t line, std::string_view key, std::string message) {
  ok_ = false;
  diagnostics_.error(line, key, std::move(message));
}

void TableReader::error(std::string_view key, std::string message) {
  const std::uint32_t line = line_of(key);
  report(line != 0 ? line : table_.line, full_name(key), std::move(message));
}

void TableReader::error_at(const Value& value, std::string_view key, std::string message) {
  report(value.line, full_name(key), std::move(message));
}

void TableReader::error_here(std::string message) {
  report(table_.line, section_, std::move(message));
}

void TableReader::require(std::string_view key) {
  if (!has(key)) error(key, "is missing");
}

void TableReader::finish() {
  if (std::exchange(finished_, true)) return;
  for (const Entry& entry : table_.entries) {
    if (std::ranges::find(known_, entry.key, &Known::name) == known_.end()) report_unknown(entry);
  }
  for (const auto& [name, reader] : sections_) {
    if (reader != nullptr) reader->finish();
  }
}

void TableReader::report_unknown(const Entry& entry) {
  const bool is_section = entry.value.as<Table>() != nullptr || is_list_of_tables(entry.value);
  const std::string what = is_section ? fmt::format("unknown section [{}]", full_name(entry.key))
                                      : fmt::format("unknown key '{}'", entry.key);
  report(entry.line, section_, fmt::format("{}: {}", what, hint_for(entry.key)));
}

// Where the key belongs, what was probably meant, or all that there is.
std::string TableReader::hint_for(std::string_view name) const {
  std::vector<std::string> places;
  for (const auto& [section, key] : known_keys_) {
    if (key != name || section == section_) continue;
    places.push_back(section.empty() ? "at the top, before the first section"
                                     : fmt::format("in [{}]", section));
  }
  if (!places.empty()) return fmt::format("it belongs {}", fmt::join(places, " or "));
  std::vector<std::string_view> names;
  std::vector<std::string_view> shown;
  for (const Known& known : known_) {
    names.push_back(known.name);
    shown.push_back(known.shown);
  }
  if (const auto nearest = nearest_word(name, names)) {
    return fmt::format("did you mean {}?", shown[*nearest]);
  }
  return fmt::format("valid here: {}", fmt::join(shown, ", "));
}

TomlReader::TomlReader(std::string_view text, std::span<const std::string> settings)
    : table_([&] {
        auto parsed = parse_with_settings(text, settings);
        if (parsed) return std::move(*parsed);
        is_toml_ = false;
        const FileError& error = parsed.error();
        diagnostics_.error(error.line, error.key, error.message);
        return Table{};
      }()),
      top_(table_, "", diagnostics_, known_keys_) {}

}  // namespace openmrc::text
