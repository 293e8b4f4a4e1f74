// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/file_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "openmrc/text/units.h"

namespace openmrc::text {
namespace {

std::string too_deep(std::size_t most) {
  return fmt::format("values are nested more than {} deep", most);
}

// Reads TOML only as far as it takes to tell keys and brackets from strings and comments. A string
// that is never closed ends with its line, where the parser reports it.
class TomlScan {
 public:
  explicit TomlScan(std::string_view text) : text_(text) {}

  Result<void, FileError> run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        skip_comment();
      } else if (c == '"' || c == '\'') {
        skip_string(c);
      } else {
        take(c);
        ++at_;
      }
      if (key_parts_ > kTomlKeyPartsMax) {
        return wrong(fmt::format("a key has more than {} parts", kTomlKeyPartsMax));
      }
      if (nesting_ > kTomlNestingMax) {
        return wrong(too_deep(kTomlNestingMax));
      }
    }
    return {};
  }

 private:
  [[nodiscard]] Result<void, FileError> wrong(std::string message) const {
    return failure(FileError{.line = line_, .message = std::move(message)});
  }

  void take(char c) {
    switch (c) {
      case '.': ++key_parts_; return;
      case '\n': ++line_; break;
      case '[':
      case '{': ++nesting_; break;
      case ']':
      case '}': nesting_ -= nesting_ > 0 ? 1 : 0; break;
      case '=':
      case ',': break;
      default: return;
    }
    key_parts_ = 1;
  }

  void skip_comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  void skip_string(char quote) {
    const std::string_view three = quote == '"' ? R"(""")" : "'''";
    const bool long_string = text_.substr(at_).starts_with(three);
    const std::string_view end = long_string ? three : three.substr(0, 1);
    at_ += end.size();
    while (at_ < text_.size() && !text_.substr(at_).starts_with(end)) {
      if (text_[at_] == '\n') {
        if (!long_string) return;
        ++line_;
      }
      const bool backslash = quote == '"' && text_[at_] == '\\';
      at_ += backslash && is_escape() ? 2U : 1U;
    }
    at_ = std::min(at_ + end.size(), text_.size());
    // Up to two quotes before the three that end a long string belong to it.
    for (int i = 0; long_string && i < 2 && at_ < text_.size() && text_[at_] == quote; ++i) ++at_;
  }
  // A backslash at the end of a line, or of the text, takes nothing with it.
  [[nodiscard]] bool is_escape() const { return at_ + 1 < text_.size() && text_[at_ + 1] != '\n'; }

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::size_t key_parts_ = 1;  // dots since the last sign that ends a key
  std::size_t nesting_ = 0;
};

}  // namespace

Result<void, FileError> check_size(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return {};
  return failure(FileError{
      .message = fmt::format("is larger than {}, the most that is read", format_size(bytes_max))});
}

Result<void, FileError> check_toml_limits(std::string_view text) {
  if (auto size = check_size(text, kTomlBytesMax); !size) return size;
  return TomlScan(text).run();
}

Result<void, std::string> check_json_depth(std::string_view text) {
  std::size_t nesting = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      i += c == '\\' ? 1 : 0;
      continue;
    }
    if (c == '[' || c == '{') ++nesting;
    if ((c == ']' || c == '}') && nesting > 0) --nesting;
    if (nesting > kJsonNestingMax) {
      return failure(too_deep(kJsonNestingMax));
    }
  }
  return {};
}

}  // namespace openmrc::text
