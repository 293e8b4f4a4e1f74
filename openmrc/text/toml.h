// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/text/file_error.h"

// A TOML file as a tree that remembers lines and the order of the keys.
namespace openmrc::text {

struct Entry;
struct Value;

using List = std::vector<Value>;

struct Table {
  // Defined where Entry is complete, which clang wants.
  Table();
  explicit Table(std::vector<Entry> all);
  Table(const Table&);
  Table(Table&&) noexcept;
  Table& operator=(const Table&);
  Table& operator=(Table&&) noexcept;
  ~Table();

  std::vector<Entry> entries;  // in the order of the file
  std::uint32_t line = 0;      // of its header; 0: the whole file

  [[nodiscard]] const Entry* find(std::string_view key) const;
};

struct Value {
  // A date or a time of day, which no file of ours has, is a monostate.
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Table> data{};
  std::uint32_t line = 0;

  template <class T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&data);
  }
};

struct Entry {
  std::string key{};
  std::uint32_t line = 0;
  Value value{};
};

// An error, if any, has a line and no key: the text is not TOML, or beyond the limits of
// file_limits.h.
Result<Table, FileError> parse_toml(std::string_view text);

std::string shown(const Value& value);  // as a message repeats it: "\"fast\"", "5", "a list"
bool is_list_of_tables(const Value& value);

}  // namespace openmrc::text
