// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "openmrc/agent/profiles/profile_names.h"
#include "openmrc/agent/profiles/profile_types.h"

// Records as JSON, for the agent's messages and its file. Each record names its parts once, in
// `fields`, for reading and for writing. What is read is not trusted: types, ranges and lengths are
// checked, and an unknown key is an error.
namespace openmrc::libmrc {

using Json = nlohmann::ordered_json;

// A record or its const twin.
template <class T, class Record>
concept As = std::same_as<std::remove_const_t<T>, Record>;

// More than any list in a message has.
inline constexpr std::size_t kListMax = 4096;
inline constexpr std::size_t kTextMax = 4096;

class JsonWriter;
class JsonReader;

template <class Record>
Json json_of(const Record& record);
// Empty, or what is wrong.
template <class Record>
std::string read_json(const Json& json, Record& record);

// Takes the parts of one record to JSON.
class JsonWriter {
 public:
  template <class T>
  void operator()(const char* key, const std::optional<T>& part) {
    if (part) json_[key] = value(*part);
  }
  template <class T>
  void operator()(const char* key, const T& part) {
    json_[key] = value(part);
  }
  [[nodiscard]] const Json& json() const { return json_; }

 private:
  template <class T>
  static Json value(const T& part) {
    if constexpr (std::integral<T> || std::floating_point<T> || std::same_as<T, std::string>) {
      return part;
    } else if constexpr (std::is_enum_v<T>) {
      return std::string(name_of(part));
    } else if constexpr (requires { part.raw(); }) {
      return part.raw();
    } else {
      return json_of(part);
    }
  }
  static Json value(const core::EvBits& bits) { return hex_of(bits); }
  static Json value(const VendorConfig& bytes) {
    const auto last = std::ranges::find_if(bytes.rbegin(), bytes.rend(),
                                           [](std::uint8_t byte) { return byte != 0; });
    return Json(std::vector<std::uint8_t>(bytes.begin(), last.base()));
  }
  template <class T>
  static Json value(const std::vector<T>& list) {
    Json json = Json::array();
    for (const T& each : list) json.push_back(value(each));
    return json;
  }

  Json json_ = Json::object();
};

// Takes the parts of one record from JSON, and remembers the first thing that is wrong.
class JsonReader {
 public:
  explicit JsonReader(const Json& json) : json_(json) {
    if (!json.is_object()) error_ = "is no JSON object";
  }

  template <class T>
  void operator()(const char* key, std::optional<T>& part) {
    if (error_.empty() && json_.contains(key)) (*this)(key, part.emplace());
  }
  template <class T>
  void operator()(const char* key, T& part) {
    if (!error_.empty()) return;
    const auto found = json_.find(key);
    if (found == json_.end()) {
      error_ = std::string("has no ") + key;
      return;
    }
    ++taken_;
    if (!read(*found, part) && error_.empty()) error_ = std::string(key) + " is wrong";
  }
  // Empty, or what is wrong.
  [[nodiscard]] std::string finish() {
    if (error_.empty() && json_.size() != taken_) return "has keys that are not known";
    return error_;
  }

 private:
  template <class T>
  bool read(const Json& json, T& part) {
    if constexpr (std::same_as<T, bool>) {
      return read_bool(json, part);
    } else if constexpr (std::integral<T>) {
      return read_integer(json, part);
    } else if constexpr (std::floating_point<T>) {
      return read_float(json, part);
    } else if constexpr (std::is_enum_v<T>) {
      return json.is_string() && parse_name(json.get_ref<const std::string&>(), part);
    } else if constexpr (requires { part.raw(); }) {
      decltype(part.raw()) raw = 0;
      if (!read_integer(json, raw)) return false;
      part = T(raw);
      return true;
    } else {
      error_ = read_json(json, part);
      return error_.empty();
    }
  }
  static bool read_bool(const Json& json, bool& part) {
    if (!json.is_boolean()) return false;
    part = json.get<bool>();
    return true;
  }
  // Numbers in messages are never negative.
  template <class T>
  static bool read_integer(const Json& json, T& part) {
    if (!json.is_number_unsigned()) return false;
    const auto number = json.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) return false;
    part = static_cast<T>(number);
    return true;
  }
  template <class T>
  static bool read_float(const Json& json, T& part) {
    if (!json.is_number()) return false;
    const auto number = json.get<double>();
    if (std::abs(number) > double{std::numeric_limits<T>::max()}) return false;
    part = static_cast<T>(number);
    return true;
  }
  static bool read(const Json& json, std::string& text) {
    if (!json.is_string()) return false;
    text = json.get<std::string>();
    return text.size() <= kTextMax;
  }
  static bool read(const Json& json, core::EvBits& bits) {
    if (!json.is_string()) return false;
    const auto found = bits_from_hex(json.get_ref<const std::string&>());
    if (found) bits = *found;
    return found.has_value();
  }
  bool read(const Json& json, VendorConfig& bytes) {
    std::vector<std::uint8_t> given;
    if (!read(json, given) || given.size() > bytes.size()) return false;
    bytes = {};
    std::ranges::copy(given, bytes.begin());
    return true;
  }
  template <class T>
  bool read(const Json& json, std::vector<T>& list) {
    if (!json.is_array() || json.size() > kListMax) return false;
    list.clear();
    for (const Json& each : json) {
      if (!read(each, list.emplace_back())) return false;
    }
    return true;
  }

  const Json& json_;
  std::size_t taken_ = 0;
  std::string error_;
};

template <class Archive, As<EvKey> T>
void fields(Archive& archive, T& ev) {
  archive("value", ev.value);
  archive("port", ev.port);
}
template <class Archive, As<EvStatus> T>
void fields(Archive& archive, T& status) {
  archive("ev", status.ev);
  archive("state", status.state);
}
template <class Archive, As<EvEdit> T>
void fields(Archive& archive, T& edit) {
  archive("ev", edit.ev);
  archive("replacement", edit.replacement);
  archive("state", edit.state);
  archive("all_copies", edit.all_copies);
}
template <class Archive, As<core::EvField> T>
void fields(Archive& archive, T& field) {
  archive("width", field.width);
  archive("init", field.init);
  archive("min", field.min);
  archive("max", field.max);
  archive("mask", field.mask);
}
template <class Archive, As<mrc_ctl_cc_nscc_cfg> T>
void fields(Archive& archive, T& config) {
  archive("disable_qa", config.disable_qa);
  archive("adjust_bytes_threshold", config.adjust_bytes_threshold);
  archive("adjust_period_threshold", config.adjust_period_threshold);
  archive("base_rtt", config.base_rtt);
  archive("eta", config.eta);
  archive("fi", config.fi);
  archive("fi_scale", config.fi_scale);
  archive("gamma", config.gamma);
  archive("max_md_jump", config.max_md_jump);
  archive("max_cwnd", config.max_cwnd);
  archive("qa_gate", config.qa_gate);
  archive("qa_threshold", config.qa_threshold);
  archive("target_delay", config.target_delay);
}

template <class Archive, As<FormatChange> T>
void fields(Archive& archive, T& change) {
  archive("state", change.state);
  archive("expected_state", change.expected_state);
  archive("mode", change.mode);
  archive("widths", change.widths);
  archive("vendor", change.vendor);
}
template <class Archive, As<FormatProfile> T>
void fields(Archive& archive, T& profile) {
  archive("state", profile.state);
  archive("mode", profile.mode);
  archive("widths", profile.widths);
  archive("vendor", profile.vendor);
}
template <class Archive, As<EvProfileChange> T>
void fields(Archive& archive, T& change) {
  archive("state", change.state);
  archive("expected_state", change.expected_state);
  archive("mode", change.mode);
  archive("format", change.format);
  archive("count", change.count);
  archive("min_active", change.min_active);
  archive("event_mask", change.event_mask);
  archive("fields", change.fields);
  archive("edits", change.edits);
  archive("vendor", change.vendor);
}
template <class Archive, As<EvProfile> T>
void fields(Archive& archive, T& profile) {
  archive("state", profile.state);
  archive("mode", profile.mode);
  archive("format", profile.format);
  archive("wanted_count", profile.wanted_count);
  archive("min_active", profile.min_active);
  archive("event_mask", profile.event_mask);
  archive("fields", profile.fields);
  archive("evs", profile.evs);
  archive("vendor", profile.vendor);
}
template <class Archive, As<EvProfileImage> T>
void fields(Archive& archive, T& image) {
  archive("mode", image.mode);
  archive("format", image.format);
  archive("fields", image.fields);
  archive("evs", image.evs);
  archive("min_active", image.min_active);
  archive("event_mask", image.event_mask);
}
template <class Archive, As<CcProfileChange> T>
void fields(Archive& archive, T& change) {
  archive("state", change.state);
  archive("expected_state", change.expected_state);
  archive("algorithm", change.algorithm);
  archive("config", change.config);
  archive("vendor", change.vendor);
}
template <class Archive, As<CcProfile> T>
void fields(Archive& archive, T& profile) {
  archive("state", profile.state);
  archive("algorithm", profile.algorithm);
  archive("config", profile.config);
  archive("vendor", profile.vendor);
}

template <class Record>
Json json_of(const Record& record) {
  JsonWriter writer;
  fields(writer, record);
  return writer.json();
}

template <class Record>
std::string read_json(const Json& json, Record& record) {
  JsonReader reader(json);
  fields(reader, record);
  return reader.finish();
}

}  // namespace openmrc::libmrc
