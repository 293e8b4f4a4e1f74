// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

// For tests: whether a page or a chart is well-formed, as an XML parser would see it.
namespace openmrc::sim {

class MarkupChecker {
 public:
  // Empty if all tags are closed in their order, all attributes are quoted and nothing in the text
  // looks like markup; otherwise what is wrong, and where.
  static std::string check(std::string_view text) {
    MarkupChecker checker(text);
    if (text.starts_with("<!DOCTYPE html>\n")) checker.at_ = 16;
    while (checker.error_.empty() && checker.at_ < text.size()) checker.step();
    if (checker.error_.empty() && !checker.open_.empty()) {
      checker.complain("never closed: " + checker.open_.back());
    }
    return checker.error_;
  }

 private:
  explicit MarkupChecker(std::string_view text) : text_(text) {}

  void complain(const std::string& what) {
    if (!error_.empty()) return;
    error_ = "at byte " + std::to_string(at_) + ": " + what +
             " near: " + std::string(text_.substr(at_ < 20 ? 0 : at_ - 20, 60));
  }

  char next() { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool skip(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }

  std::string name() {
    const std::size_t start = at_;
    while (std::isalnum(static_cast<unsigned char>(next())) != 0 || next() == '-') ++at_;
    if (start == at_) complain("no name");
    return std::string(text_.substr(start, at_ - start));
  }

  void entity() {
    const std::size_t end = text_.find(';', at_);
    const std::string_view entity = text_.substr(at_, end == text_.npos ? 1 : end - at_ + 1);
    for (const char* known : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "&#10;"}) {
      if (entity == known) {
        at_ = end + 1;
        return;
      }
    }
    complain("a bare &");
  }

  void step() {
    if (next() == '<') {
      ++at_;
      skip('/') ? close() : open();
    } else if (next() == '&') {
      entity();
    } else {
      const auto byte = static_cast<unsigned char>(next());
      if (byte < 0x20 && byte != '\n' && byte != '\t' && byte != '\r')
        complain("control character");
      ++at_;
    }
  }

  void close() {
    const std::string tag = name();
    if (open_.empty() || open_.back() != tag) complain("closes what is not open: " + tag);
    if (!open_.empty()) open_.pop_back();
    if (!skip('>')) complain("no end of the tag " + tag);
  }

  void open() {
    const std::string tag = name();
    while (error_.empty() && skip(' ')) attribute();
    const bool empty = skip('/');
    if (!skip('>')) complain("no end of the tag " + tag);
    if (!empty) open_.push_back(tag);
  }

  void attribute() {
    name();
    if (!skip('=') || !skip('"')) return complain("attribute without quotes");
    while (error_.empty() && next() != '"') {
      if (at_ >= text_.size() || next() == '<') return complain("attribute without end");
      if (next() == '&') {
        entity();
      } else {
        ++at_;
      }
    }
    ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::string> open_;
  std::string error_;
};

}  // namespace openmrc::sim
