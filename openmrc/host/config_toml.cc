// SPDX-License-Identifier: BSD-3-Clause
// By its headers alone, and without exceptions.
#define TOML_EXCEPTIONS 0  // NOLINT(readability-identifier-naming): its name
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <ranges>
#include <utility>

#include "openmrc/base/result.h"
#include "openmrc/fabric/shape_keys.h"
#include "openmrc/host/config_fields.h"
#include "openmrc/host/units.h"

namespace openmrc::host {
namespace {

using Kind = Field::Kind;

std::uint32_t line_of(const toml::node& node) { return node.source().begin.line; }
std::uint32_t line_of(const toml::key& key) { return key.source().begin.line; }

// The value as a message repeats it.
std::string shown(const toml::node& node) {
  if (const auto* text = node.as_string()) return fmt::format("\"{}\"", text->get());
  if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  if (node.is_table()) return "a table";
  if (node.is_array()) return "a list";
  return "a date or time of day";
}

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
std::string hint_for(std::string_view wrong, const std::vector<std::string>& known) {
  constexpr std::size_t kLongestWord = 64;  // longer ones are not worth comparing
  const auto distance = [&](std::string_view word) {
    while (word.starts_with('[')) word = word.substr(1, word.size() - 2);
    return letters_between(wrong, word);
  };
  if (wrong.size() <= kLongestWord) {
    const auto nearest = std::ranges::min_element(known, {}, distance);
    if (nearest != known.end() && distance(*nearest) <= wrong.size() / 3 + 1) {
      return fmt::format("did you mean {}?", *nearest);
    }
  }
  return fmt::format("there are {}", fmt::join(known, ", "));
}

std::string_view kind_text(Kind kind) {
  switch (kind) {
    case Kind::kTime: return "a time with its unit, as in \"10ms\"";
    case Kind::kBytes: return "a number of bytes, or a size as in \"256KiB\"";
    case Kind::kRate: return "a rate with its unit, as in \"10gbit\"";
    case Kind::kShare: return "a number";
    case Kind::kWord: return "one of";
    default: return "a whole number";
  }
}

// The number that the value stands for, if it is of the field's kind.
std::optional<std::uint64_t> number_in(const toml::node& node, const Field& field) {
  const auto text = node.value<std::string_view>();
  std::optional<std::uint64_t> whole;
  if (const auto* integer = node.as_integer(); integer != nullptr && integer->get() >= 0) {
    whole = static_cast<std::uint64_t>(integer->get());
  }
  switch (field.kind) {
    case Kind::kTime: {
      const auto time = parse_time(text.value_or(""));
      if (!time) return std::nullopt;
      return static_cast<std::uint64_t>(time->raw());
    }
    case Kind::kBytes: return text ? parse_bytes(*text) : whole;
    case Kind::kRate: return parse_bit_rate(text.value_or(""));
    case Kind::kWord: {
      const auto word = std::ranges::find(field.words, text.value_or(""));
      if (word == field.words.end()) return std::nullopt;
      return static_cast<std::uint64_t>(word - field.words.begin());
    }
    default: return whole;
  }
}

// Sets the field; otherwise says what would be right.
Result<void, std::string> set_field(const toml::node& node, const Field& field) {
  const auto wrong = [&](std::string_view right) {
    return failure(fmt::format("must be {}, not {}", right, shown(node)));
  };
  if (field.kind == Kind::kText) {
    const auto* text = node.as_string();
    if (text == nullptr) return wrong("a text in quotes");
    if (text->get().empty()) return failure("must not be empty; leave the key out instead");
    *field.text = text->get();
    return {};
  }
  if (field.kind == Kind::kFlag) {
    const auto* flag = node.as_boolean();
    if (flag == nullptr) return wrong("true or false");
    field.set(flag->get() ? 1 : 0);
    return {};
  }
  if (field.kind == Kind::kShare) {
    const auto share = node.is_number() ? node.value<double>() : std::nullopt;
    if (!share || !(*share >= 0 && *share <= 1)) return wrong("a number from 0 to 1");
    *field.share = *share;
    return {};
  }
  const auto number = number_in(node, field);
  if (!number || *number < field.least || *number > field.most) {
    return wrong(fmt::format("{}{}{}", kind_text(field.kind),
                             field.kind == Kind::kWord ? " " : ", ", range_text(field)));
  }
  field.set(*number);
  return {};
}

class Reader {
 public:
  Reader(Draft& draft, Given& given, std::vector<ConfigError>& errors)
      : draft_(draft), fields_(fields_of(draft)), given_(given), errors_(errors) {
    for (const Field& field : fields_) {
      if (!field.section.empty() && !is_section(field.section)) {
        sections_.emplace_back(field.section);
      }
    }
  }

  void read(const toml::table& file) {
    for (const auto& [key, node] : file) {
      if (key.str() == "port") {
        read_ports(key, node);
      } else if (is_section(key.str())) {
        read_section(key, node);
      } else {
        read_key("", key, node, fields_);
      }
    }
  }

 private:
  [[nodiscard]] bool is_section(std::string_view name) const {
    return std::ranges::find(sections_, name) != sections_.end();
  }

  void fail(std::uint32_t line, std::string key, std::string message) {
    errors_.push_back({.line = line, .key = std::move(key), .message = std::move(message)});
  }

  void read_section(const toml::key& key, const toml::node& node) {
    const std::string name(key.str());
    const auto* table = node.as_table();
    if (table == nullptr) {
      const bool is_list = node.is_array_of_tables();
      fail(line_of(key), name,
           is_list ? fmt::format("is there once: write [{0}], not [[{0}]]", name)
                   : fmt::format("is a section: write [{}] and its keys below", name));
      return;
    }
    given_[name] = line_of(key);
    for (const auto& [inner, value] : *table) read_key(name, inner, value, fields_);
    if (name == "fabric") read_shape(*table);
  }

  void read_key(std::string_view section, const toml::key& key, const toml::node& node,
                const std::vector<Field>& fields) {
    const auto field = std::ranges::find_if(fields, [&](const Field& candidate) {
      return candidate.section == section && candidate.name == key.str();
    });
    if (field == fields.end()) {
      const std::string name(key.str());
      fail(line_of(key), section.empty() ? name : fmt::format("{}.{}", section, name),
           "unknown; " + unknown_key_hint(section, name, fields));
      return;
    }
    given_[field->full_name()] = line_of(key);
    if (field->kind == Kind::kShape) return;
    if (auto result = set_field(node, *field); !result) {
      fail(line_of(node), field->full_name(), std::move(result.error()));
    }
  }

  [[nodiscard]] std::string unknown_key_hint(std::string_view section, std::string_view name,
                                             const std::vector<Field>& fields) const {
    std::vector<std::string> known;
    for (const Field& field : fields) {
      if (field.section == section) known.emplace_back(field.name);
    }
    if (section.empty()) {
      for (const std::string& other : sections_) known.push_back(fmt::format("[{}]", other));
      known.emplace_back("[[port]]");
    }
    for (const Field& field : fields_) {
      if (field.name != name) continue;
      return field.section.empty() ? "it belongs at the top, before the first section"
                                   : fmt::format("it belongs in [{}]", field.section);
    }
    return hint_for(name, known);
  }

  void read_ports(const toml::key& key, const toml::node& node) {
    given_["port"] = line_of(key);
    const auto* list = node.as_array();
    const bool is_list = list != nullptr && std::ranges::all_of(*list, [](const auto& port) {
                           return port.is_table();
                         });
    if (!is_list) {
      fail(line_of(key), "port", "is a list: write [[port]], once for each plane");
      return;
    }
    for (const toml::node& element : *list) {
      PortDraft& port = draft_.ports.emplace_back();
      port.line = line_of(element);
      const auto fields = port_fields_of(port);
      for (const auto& [inner, value] : *element.as_table()) {
        if (inner.str() == "address") port.address_line = line_of(inner);
        read_key("port", inner, value, fields);
      }
    }
  }

  void read_shape(const toml::table& table) {
    std::vector<fabric::KeyValue> keys;
    for (const auto& [key, node] : table) {
      const auto field = std::ranges::find_if(fields_, [&](const Field& candidate) {
        return candidate.section == "fabric" && candidate.name == key.str();
      });
      if (field == fields_.end() || field->kind != Kind::kShape) continue;
      fabric::KeyValue pair{.key = key.str(), .value = {}, .line = line_of(key)};
      if (const auto* whole = node.as_integer()) pair.value = whole->get();
      if (const auto* number = node.as_floating_point()) pair.value = number->get();
      keys.push_back(pair);
    }
    std::ranges::stable_sort(keys, {}, &fabric::KeyValue::line);
    const auto shape = fabric::shape_from(keys);
    if (shape) {
      draft_.config.fabric = FabricPlace{.shape = *shape};
    } else {
      const auto& [line, key, message] = shape.error();
      fail(line != 0 ? line : given_["fabric"], "fabric." + key, message);
    }
  }

  Draft& draft_;
  std::vector<Field> fields_;
  std::vector<std::string> sections_;
  Given& given_;
  std::vector<ConfigError>& errors_;
};

}  // namespace

void read_toml(std::string_view text, Draft& draft, Given& given,
               std::vector<ConfigError>& errors) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    errors.push_back({.line = parsed.error().source().begin.line,
                      .key = {},
                      .message = fmt::format("is not TOML: {}", parsed.error().description())});
    return;
  }
  Reader(draft, given, errors).read(parsed.table());
}

}  // namespace openmrc::host
