// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/toml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace openmrc::text {
namespace {

std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += fmt::format("\\{}", c);
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string key_text(const std::string& key) {
  const bool is_bare = !key.empty() && std::ranges::all_of(key, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  });
  return is_bare ? key : quoted_text(key);
}

// A whole number would come back as an integer.
std::string number_text(double number) {
  std::string text = fmt::format("{}", number);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

struct Writer {
  using Text = std::optional<std::string>;

  Text operator()(std::monostate) const { return std::nullopt; }
  Text operator()(bool flag) const { return flag ? "true" : "false"; }
  Text operator()(std::int64_t whole) const { return fmt::format("{}", whole); }
  Text operator()(double number) const { return number_text(number); }
  Text operator()(const std::string& text) const { return quoted_text(text); }
  Text operator()(const List& list) const {
    std::string out = "[";
    for (const Value& element : list) {
      const Text text = toml_text(element);
      if (!text) return std::nullopt;
      out += (out.size() == 1 ? "" : ", ") + *text;
    }
    return out + "]";
  }
  Text operator()(const Table& table) const {
    std::string out = "{";
    for (const Entry& entry : table.entries) {
      const Text text = toml_text(entry.value);
      if (!text) return std::nullopt;
      out += fmt::format("{} {} = {}", out.size() == 1 ? "" : ",", key_text(entry.key), *text);
    }
    return out + " }";
  }
};

}  // namespace

std::optional<std::string> toml_text(const Value& value) {
  return std::visit(Writer{}, value.data);
}

}  // namespace openmrc::text
