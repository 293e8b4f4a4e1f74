// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "openmrc/sim/scenario/scenario.h"

namespace openmrc::sim {

// The first thing that was found wrong with a file. Reading goes on after it and changes nothing
// more, so that readers need not ask after each key.
class FirstError {
 public:
  void set(std::uint32_t line, std::string text) {
    if (!error_) error_ = ScenarioError{.line = line, .text = std::move(text)};
  }
  [[nodiscard]] const std::optional<ScenarioError>& get() const { return error_; }

 private:
  std::optional<ScenarioError> error_;
};

inline std::uint32_t line_of(const toml::node& node) { return node.source().begin.line; }

struct NumberRange {
  std::uint64_t least = 0;
  std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
};

// A word of a file and what it stands for.
template <class T>
struct Word {
  std::string_view word;
  T meaning;
};

// One table of a scenario file. Every `read` leaves its value alone if the key is not there, and
// says whether it was; so the default of a key is what the value was before. A key that nobody has
// asked for by the end is an error.
class TomlSection {
 public:
  // `name` stands before the key in errors: "[fabric] ".
  TomlSection(const toml::table& table, std::string name, FirstError& error)
      : table_(table), name_(std::move(name)), error_(error) {}

  bool read(std::string_view key, bool& value);
  bool read(std::string_view key, std::string& value);
  bool read(std::string_view key, Picoseconds& value);  // a time
  bool read_share(std::string_view key, std::uint32_t& per_billion);

  template <std::unsigned_integral T>
  bool read(std::string_view key, T& value, NumberRange range = {}) {
    const toml::node* node = find(key);
    if (node == nullptr) return false;
    range.most = std::min<std::uint64_t>(range.most, std::numeric_limits<T>::max());
    if (const auto number = number_in(*node, key, range)) value = static_cast<T>(*number);
    return true;
  }
  template <std::unsigned_integral T>
  bool read_bytes(std::string_view key, T& value) {
    const toml::node* node = find(key);
    if (node == nullptr) return false;
    const auto bytes = bytes_in(*node, key, std::numeric_limits<T>::max());
    if (bytes) value = static_cast<T>(*bytes);
    return true;
  }
  template <class T>
  bool read_word(std::string_view key, T& value, std::span<const Word<T>> words) {
    std::string word;
    if (!read(key, word)) return false;
    std::string all;
    for (const Word<T>& candidate : words) {
      if (candidate.word == word) {
        value = candidate.meaning;
        return true;
      }
      all += fmt::format("{}\"{}\"", all.empty() ? "" : ", ", candidate.word);
    }
    fail(key, fmt::format("must be one of {}", all));
    return true;
  }

  // The elements of an array; of what is no array, itself as the only one.
  std::vector<const toml::node*> elements(std::string_view key);
  // Reads each table of an array of tables.
  void for_each_table(std::string_view key, const std::function<void(TomlSection&)>& read_table);

  [[nodiscard]] const toml::node* find(std::string_view key);
  [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }
  [[nodiscard]] const toml::table& table() const { return table_; }
  [[nodiscard]] std::uint32_t line() const { return line_of(table_); }
  [[nodiscard]] FirstError& error() const { return error_; }

  // What a single value is, with its errors.
  std::optional<std::uint64_t> number_in(const toml::node& node, std::string_view key,
                                         NumberRange range);
  std::optional<std::uint64_t> bytes_in(const toml::node& node, std::string_view key,
                                        std::uint64_t most);
  std::optional<Picoseconds> time_in(const toml::node& node, std::string_view key);

  void fail(std::string_view key, std::string_view text);
  void fail_at(const toml::node& node, std::string_view key, std::string_view text);
  void require(std::string_view key) {
    if (!has(key)) fail(key, "is missing");
  }
  // To be called when all keys have been asked for.
  void finish();

 private:
  const toml::table& table_;
  std::string name_;
  FirstError& error_;
  std::vector<std::string> known_;  // keys that were asked for
};

}  // namespace openmrc::sim
