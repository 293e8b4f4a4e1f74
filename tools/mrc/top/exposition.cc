// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/top/exposition.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace openmrc::tools::top {
namespace {

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == ':';
}

std::string_view take_name(std::string_view& text) {
  const auto* const end = std::ranges::find_if_not(text, is_of_name);
  const std::string_view name = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(name.size());
  return name;
}

bool skip(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// Up to the quotation mark that ends it.
std::optional<std::string> take_quoted(std::string_view& text) {
  if (!skip(text, '"')) return std::nullopt;
  std::string value;
  while (!text.empty() && text.front() != '"') {
    const bool is_escaped = skip(text, '\\');
    if (text.empty()) return std::nullopt;
    value += is_escaped && text.front() == 'n' ? '\n' : text.front();
    text.remove_prefix(1);
  }
  if (!skip(text, '"')) return std::nullopt;
  return value;
}

bool take_labels(std::string_view& text, std::map<std::string, std::string>& labels) {
  if (!skip(text, '{')) return true;
  while (!skip(text, '}')) {
    const std::string name(take_name(text));
    if (name.empty() || !skip(text, '=')) return false;
    auto value = take_quoted(text);
    if (!value) return false;
    labels[name] = *std::move(value);
    if (!skip(text, ',') && !text.starts_with('}')) return false;
  }
  return true;
}

std::optional<Series> series_of(std::string_view line) {
  Series series{.name = std::string(take_name(line))};
  if (series.name.empty() || !take_labels(line, series.labels) || !skip(line, ' ')) {
    return std::nullopt;
  }
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), series.value);
  if (error != std::errc()) return std::nullopt;
  return series;
}

}  // namespace

std::string_view Series::label(const std::string& name_of_label) const {
  const auto found = labels.find(name_of_label);
  return found == labels.end() ? std::string_view{} : found->second;
}

Exposition::Exposition(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto series = series_of(text.substr(0, end))) series_.push_back(*std::move(series));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

double Exposition::value(std::string_view name) const {
  const auto found = std::ranges::find(series_, name, &Series::name);
  return found == series_.end() ? 0 : found->value;
}

double Exposition::value(std::string_view name, const std::string& label,
                         std::string_view label_value) const {
  const auto found = std::ranges::find_if(series_, [&](const Series& each) {
    return each.name == name && each.label(label) == label_value;
  });
  return found == series_.end() ? 0 : found->value;
}

}  // namespace openmrc::tools::top
