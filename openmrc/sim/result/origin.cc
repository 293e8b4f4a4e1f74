// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/result/origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <nlohmann/json.hpp>

#include "openmrc/base/sha256.h"
#include "openmrc/sim/result/json_text.h"
#include "openmrc/text/file_limits.h"

namespace openmrc::sim {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const RunInputs& inputs) {
  Json files = Json::object();
  for (const auto& [path, text] : inputs.files) files[path] = text;
  return {{"name", inputs.name},           {"scenario", inputs.scenario},
          {"settings", inputs.settings},   {"seed", inputs.seed},
          {"transport", inputs.transport}, {"host_config", inputs.host_config},
          {"files", std::move(files)}};
}

// A word as a shell takes it for one.
std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain = "_-+=.,:/@%[]";
  const bool is_plain = !word.empty() && std::ranges::all_of(word, [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || kPlain.contains(c);
  });
  if (is_plain) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

class OriginReader {
 public:
  explicit OriginReader(const Json& json) : json_(json) {}

  Result<Origin, std::string> read() {
    Origin origin;
    const Json& inputs = member(json_, "inputs");
    read_text(json_, "program", origin.program);
    read_text(inputs, "name", origin.inputs.name);
    read_text(inputs, "scenario", origin.inputs.scenario);
    read_settings(member(inputs, "settings"), origin.inputs.settings);
    read_seed(member(inputs, "seed"), origin.inputs.seed);
    read_text(inputs, "transport", origin.inputs.transport);
    read_text(inputs, "host_config", origin.inputs.host_config);
    read_files(member(inputs, "files"), origin.inputs.files);
    std::string sum;
    read_text(json_, "sha256", sum);
    if (wrong_.empty() && sum != inputs_hash(origin.inputs)) {
      return failure(std::string(
          "\"sha256\" of its \"origin\" does not fit the \"inputs\": the file was changed"));
    }
    if (!wrong_.empty()) return failure(wrong_);
    return origin;
  }

 private:
  // Null if it is not there.
  const Json& member(const Json& object, const char* name) {
    static const Json kNothing;
    const auto found = object.is_object() ? object.find(name) : object.end();
    if (object.is_object() && found != object.end()) return *found;
    refuse(name);
    return kNothing;
  }
  void refuse(const char* name) {
    if (wrong_.empty()) wrong_ = fmt::format("\"origin\": \"{}\" is missing or invalid", name);
  }
  void read_text(const Json& object, const char* name, std::string& text) {
    const Json& value = member(object, name);
    if (!value.is_string()) return refuse(name);
    text = value.get<std::string>();
  }
  void read_settings(const Json& list, std::vector<std::string>& settings) {
    if (!list.is_array()) return refuse("settings");
    for (const Json& setting : list) {
      if (!setting.is_string()) return refuse("settings");
      settings.push_back(setting.get<std::string>());
    }
  }
  void read_seed(const Json& number, std::uint64_t& seed) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
    if (!number.is_number_unsigned() || number.get<std::uint64_t>() > kMost) return refuse("seed");
    seed = number.get<std::uint64_t>();
  }
  void read_files(const Json& object, std::map<std::string, std::string>& files) {
    if (!object.is_object()) return refuse("files");
    for (const auto& [path, text] : object.items()) {
      if (!text.is_string()) return refuse("files");
      files[path] = text.get<std::string>();
    }
  }

  const Json& json_;
  std::string wrong_;
};

}  // namespace

std::string inputs_hash(const RunInputs& inputs) { return sha256_hex(json_text(json_of(inputs))); }

std::string command_of(const RunInputs& inputs) {
  std::string command = "mrc sim run " + shell_word(inputs.name + ".toml");
  if (!inputs.transport.empty()) command += " --transport " + inputs.transport;
  if (!inputs.host_config.empty()) command += " --host-config openmrc.toml";
  for (const std::string& setting : inputs.settings) command += " --set " + shell_word(setting);
  return command + fmt::format(" --seed {}", inputs.seed);
}

std::string origin_json(const Origin& origin) {
  return json_text({{"program", origin.program},
                    {"command", command_of(origin.inputs)},
                    {"sha256", inputs_hash(origin.inputs)},
                    {"inputs", json_of(origin.inputs)}});
}

Result<std::optional<Origin>, std::string> read_origin(std::string_view result_file) {
  if (const auto depth = text::check_json_depth(result_file); !depth) return failure(depth.error());
  const Json json = Json::parse(result_file, nullptr, false);
  if (json.is_discarded() || !json.is_object()) return failure(std::string("this is not JSON"));
  const auto found = json.find("origin");
  if (found == json.end()) return std::nullopt;
  auto origin = OriginReader(*found).read();
  if (!origin) return failure(origin.error());
  return std::move(*origin);
}

}  // namespace openmrc::sim
