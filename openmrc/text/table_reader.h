// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "openmrc/text/diagnostics.h"
#include "openmrc/text/fields.h"
#include "openmrc/text/toml.h"

namespace openmrc::text {

// Every key that somebody asked for, as section and name: where a misplaced key belongs.
using KnownKeys = std::set<std::pair<std::string, std::string>>;

// One table of a TOML file and what is read from it. Every `read` leaves the value alone if the key
// is not there, so the default of a key is what its member was before. Errors are collected and
// reading goes on. finish() reports the keys that
// nobody asked for.
class TableReader {
 public:
  TableReader(const Table& table, std::string section, Diagnostics& diagnostics, KnownKeys& known);

  // True if the key is there, whether or not it is right.
  bool read(const Field& field);
  // The fields of this table and, at the top of a file, of its sections. Several groups of fields
  // may share a section.
  void read(std::span<const Field> fields);
  // One value, such as an element of a list. True if it was right.
  bool read_value(const Field& field, const Value& value);

  // What no field describes.
  const Value* find(std::string_view key);
  // The elements of a list; of what is not a list, itself as the only one.
  std::vector<const Value*> elements(std::string_view key);
  // The section [key]; null if the file has none.
  TableReader* section(std::string_view key);
  TableReader* require_section(std::string_view key);  // an error if the file has none
  // Reads and finishes each [[key]].
  void for_each_table(std::string_view key, const std::function<void(TableReader&)>& read_table);

  [[nodiscard]] bool has(std::string_view key) const { return table_.find(key) != nullptr; }
  [[nodiscard]] std::uint32_t line() const { return table_.line; }
  [[nodiscard]] std::uint32_t line_of(std::string_view key) const;  // 0: it is not there
  // No error so far, in this table or below it.
  [[nodiscard]] bool ok() const;

  void error(std::string_view key, std::string message);
  void error_at(const Value& value, std::string_view key, std::string message);
  void error_here(std::string message);  // about the table as a whole
  void require(std::string_view key);    // an error if it is not there
  // Reports unknown keys, here and in the sections. To be called when everything has been asked
  // for; again, it does nothing.
  void finish();
  // Leaves unknown keys unreported: which ones are known depends on something that is wrong.
  void skip_rest() { finished_ = true; }

 private:
  struct Known {
    std::string name;
    std::string shown;  // "[paths]"
  };

  [[nodiscard]] std::string full_name(std::string_view key) const;
  void expect(std::string_view key, std::string shown);
  TableReader* open_section(std::string_view key);
  void report(std::uint32_t line, std::string_view key, std::string message);
  void report_unknown(const Entry& entry);
  [[nodiscard]] std::string hint_for(std::string_view name) const;

  const Table& table_;
  std::string section_;  // "" at the top
  Diagnostics& diagnostics_;
  KnownKeys& known_keys_;
  bool ok_ = true;
  bool finished_ = false;
  std::vector<Known> known_;
  std::map<std::string, std::unique_ptr<TableReader>, std::less<>> sections_;
};

// A whole file, with settings (toml_setting.h) in place of what it has. If the text or a setting is
// not TOML that is the only error, and the top table is empty.
class TomlReader {
 public:
  explicit TomlReader(std::string_view text, std::span<const std::string> settings = {});

  TableReader& top() { return top_; }
  Diagnostics& diagnostics() { return diagnostics_; }
  [[nodiscard]] bool is_toml() const { return is_toml_; }

 private:
  Diagnostics diagnostics_;
  KnownKeys known_keys_;
  bool is_toml_ = true;
  Table table_;
  TableReader top_;
};

}  // namespace openmrc::text
