// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "openmrc/base/result.h"
#include "openmrc/host/exchange.h"

// Reads lines of JSON of a peer that is not trusted: every type is checked before a value is taken,
// so nothing throws, and the time is in proportion to the length.
namespace openmrc::host {

// Is discarded, as nlohmann::json calls it, if the text is no JSON or nested too deeply. Objects
// are maps: the ordered kind compares each key with all before it.
nlohmann::json parse_line(std::string_view text);

// Reads the keys of one object, and keeps the first error.
class ObjectReader {
 public:
  struct Range {
    std::uint64_t least = 0;
    std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  };

  // `json` outlives it. Errors begin with the name: "the plan has no size".
  ObjectReader(const nlohmann::json& json, std::string name);

  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  void take(const char* key, T& value, Range range) {
    const auto found = whole_number(key, range, std::numeric_limits<T>::max());
    if (found) value = static_cast<T>(*found);
  }
  void take(const char* key, bool& value);
  void take(const char* key, double& value, double most);  // from 0
  // Control characters become '?': it may be printed.
  void take(const char* key, std::string& value, std::size_t size_max);
  // Any value, to be looked at by the caller. Null if it is missing.
  const nlohmann::json* take(const char* key);

  [[nodiscard]] bool has(const char* key) const;
  void fail(std::string_view what);

  // The result, if all keys were read without an error and there are no others.
  template <class Info>
  Result<Info, ExchangeError> finish(Info info) {
    if (auto checked = check_all_taken(); !checked) return failure(std::move(checked.error()));
    return info;
  }

 private:
  std::optional<std::uint64_t> whole_number(const char* key, Range range, std::uint64_t most);
  [[nodiscard]] Result<void, ExchangeError> check_all_taken();

  const nlohmann::json& json_;
  std::string name_;
  std::size_t taken_ = 0;
  std::string error_;
};

}  // namespace openmrc::host
