// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/scenario_toml.h"

#include <cmath>
#include <numeric>

#include "openmrc/sim/scenario/scenario_units.h"

namespace openmrc::sim {
namespace {

// How many letters must be added, taken away or replaced to make one word of the other.
std::size_t letters_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

// What the writer may have meant, if one word is near enough; otherwise all that there is.
std::string hint_for(std::string_view wrong, std::vector<std::string> known) {
  std::ranges::sort(known);
  std::string_view nearest;
  std::size_t distance = wrong.size() / 3 + 1;
  std::string all;
  for (const std::string& key : known) {
    const std::size_t letters = letters_between(wrong, key);
    if (letters <= distance && (nearest.empty() || letters < distance)) {
      nearest = key;
      distance = letters;
    }
    all += (all.empty() ? "" : ", ") + key;
  }
  if (!nearest.empty()) return fmt::format("did you mean {}?", nearest);
  return fmt::format("there are {}", all);
}

}  // namespace

const toml::node* TomlSection::find(std::string_view key) {
  if (std::ranges::find(known_, key) == known_.end()) known_.emplace_back(key);
  return table_.get(key);
}

bool TomlSection::read(std::string_view key, bool& value) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  if (const auto* found = node->as_boolean()) {
    value = found->get();
  } else {
    fail(key, "must be true or false");
  }
  return true;
}

bool TomlSection::read(std::string_view key, std::string& value) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  if (const auto* found = node->as_string()) {
    value = found->get();
  } else {
    fail(key, "must be a string");
  }
  return true;
}

bool TomlSection::read(std::string_view key, Picoseconds& value) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  if (const auto time = time_in(*node, key)) value = *time;
  return true;
}

bool TomlSection::read_share(std::string_view key, std::uint32_t& per_billion) {
  const toml::node* node = find(key);
  if (node == nullptr) return false;
  if (const auto number = node->value<double>()) {
    if (*number >= 0 && *number <= 1) {
      per_billion = static_cast<std::uint32_t>(std::llround(*number * kBillion));
      return true;
    }
  }
  const auto share = parse_share(node->value_or(std::string_view()));
  if (share) {
    per_billion = *share;
  } else {
    fail(key, share.error());
  }
  return true;
}

std::optional<std::uint64_t> TomlSection::number_in(const toml::node& node, std::string_view key,
                                                    NumberRange range) {
  const auto* found = node.as_integer();
  const auto value = found != nullptr ? static_cast<std::uint64_t>(found->get()) : 0;
  if (found != nullptr && found->get() >= 0 && value >= range.least && value <= range.most) {
    return value;
  }
  fail_at(node, key, fmt::format("must be a whole number, {} to {}", range.least, range.most));
  return std::nullopt;
}

std::optional<std::uint64_t> TomlSection::bytes_in(const toml::node& node, std::string_view key,
                                                   std::uint64_t most) {
  Result<std::uint64_t, std::string> bytes = parse_bytes(node.value_or(std::string_view()));
  if (const auto* number = node.as_integer(); number != nullptr && number->get() >= 0) {
    bytes = static_cast<std::uint64_t>(number->get());
  }
  if (bytes && *bytes <= most) return *bytes;
  fail_at(node, key, bytes ? fmt::format("must be at most {} bytes", most) : bytes.error());
  return std::nullopt;
}

std::optional<Picoseconds> TomlSection::time_in(const toml::node& node, std::string_view key) {
  if (node.is_integer() && node.value_or(std::int64_t{1}) == 0) return Picoseconds{};
  const auto time = parse_time(node.value_or(std::string_view()));
  if (time) return *time;
  fail_at(node, key, time.error());
  return std::nullopt;
}

std::vector<const toml::node*> TomlSection::elements(std::string_view key) {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  const auto* array = node->as_array();
  if (array == nullptr) return {node};
  std::vector<const toml::node*> result;
  for (const toml::node& element : *array) result.push_back(&element);
  return result;
}

void TomlSection::for_each_table(std::string_view key,
                                 const std::function<void(TomlSection&)>& read_table) {
  for (const toml::node* node : elements(key)) {
    const auto* table = node->as_table();
    if (table == nullptr) {
      fail_at(*node, key, "must be a list of tables");
      return;
    }
    TomlSection section(
        *table, name_.empty() ? fmt::format("[[{}]] ", key) : fmt::format("{}{} ", name_, key),
        error_);
    read_table(section);
    section.finish();
  }
}

void TomlSection::fail(std::string_view key, std::string_view text) {
  const toml::node* node = table_.get(key);
  error_.set(node != nullptr ? line_of(*node) : line(), fmt::format("{}{}: {}", name_, key, text));
}

void TomlSection::fail_at(const toml::node& node, std::string_view key, std::string_view text) {
  error_.set(line_of(node), fmt::format("{}{}: {}", name_, key, text));
}

void TomlSection::finish() {
  const toml::key* first = nullptr;
  for (const auto& [key, node] : table_) {
    if (std::ranges::find(known_, key.str()) != known_.end()) continue;
    if (first == nullptr || key.source().begin.line < first->source().begin.line) first = &key;
  }
  if (first == nullptr) return;
  error_.set(first->source().begin.line, fmt::format("{}{}: unknown key; {}", name_, first->str(),
                                                     hint_for(first->str(), known_)));
}

}  // namespace openmrc::sim
