// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/host/config.h"

// The one table of the keys of openmrc.toml: reading, messages and the reference all follow it.
namespace openmrc::host {

struct PortDraft {
  std::string interface{};
  std::string address{};
  std::uint32_t line = 0;  // of its [[port]]
  std::uint32_t address_line = 0;
};

enum class Icrc : std::uint8_t { kVerify, kIgnore, kOff };

// What the file says, before it is known to fit together.
struct Draft {
  Config config{};
  std::vector<PortDraft> ports{};
  std::string host{};
  std::string block = "fcbb:bb00::";
  Icrc icrc = Icrc::kVerify;
  std::size_t window = 0;
  std::string capture{};
  FaultConfig faults{};
};

// Lines of the sections and keys that the file has: "paths", "paths.evs".
using Given = std::map<std::string, std::uint32_t, std::less<>>;

struct Field {
  enum class Kind : std::uint8_t {
    kWhole,
    kHex,   // a whole number that people write in hex
    kTime,  // in nanoseconds
    kBytes,
    kRate,   // bits a second
    kShare,  // 0 to 1
    kFlag,
    kText,
    kWord,   // one of `words`, by its place
    kShape,  // of the fabric: fabric/shape_keys.h reads it
  };
  std::string_view section;  // empty: at the top
  std::string_view name;
  Kind kind = Kind::kText;
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::span<const std::string_view> words{};
  std::function<std::uint64_t()> get{};  // of everything but texts and shares
  std::function<void(std::uint64_t)> set{};
  std::string* text = nullptr;
  double* share = nullptr;
  // What holds without the key, where that is no value; "needed" if nothing does.
  std::string_view otherwise{};

  [[nodiscard]] std::string full_name() const;  // "paths.evs"
};

std::vector<Field> fields_of(Draft& draft);
std::vector<Field> port_fields_of(PortDraft& port);  // section "port"

std::string value_text(const Field& field, std::uint64_t value);  // as the file would say it
std::string range_text(const Field& field);                       // "1 to 256"; may be empty

// Reads the file into the draft; what is wrong goes to `errors`.
void read_toml(std::string_view text, Draft& draft, Given& given, std::vector<ConfigError>& errors);

}  // namespace openmrc::host
