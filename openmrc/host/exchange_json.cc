// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/exchange_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "openmrc/text/file_limits.h"

namespace openmrc::host {
namespace {

using nlohmann::json;

bool is_control(char letter) {
  const auto code = static_cast<unsigned char>(letter);
  return code < 0x20 || code == 0x7f;
}

}  // namespace

// The depth is looked at before, not by a callback: with one, the parser looks through a list after
// each object in it.
json parse_line(std::string_view text) {
  if (!text::check_json_depth(text)) return json(json::value_t::discarded);
  return json::parse(text, nullptr, false);
}

ObjectReader::ObjectReader(const json& json, std::string name)
    : json_(json), name_(std::move(name)) {
  if (!json.is_object()) fail("is no JSON object");
}

const json* ObjectReader::take(const char* key) {
  if (!error_.empty()) return nullptr;
  const auto found = json_.find(key);
  if (found == json_.end()) {
    fail(fmt::format("has no {}", key));
    return nullptr;
  }
  ++taken_;
  return &*found;
}

std::optional<std::uint64_t> ObjectReader::whole_number(const char* key, Range range,
                                                        std::uint64_t most) {
  const json* found = take(key);
  if (found == nullptr) return std::nullopt;
  most = std::min(range.most, most);
  const auto* number = found->get_ptr<const json::number_unsigned_t*>();
  if (number == nullptr || *number < range.least || *number > most) {
    fail(fmt::format("{} must be a whole number, {} to {}", key, range.least, most));
    return std::nullopt;
  }
  return *number;
}

void ObjectReader::take(const char* key, bool& value) {
  const json* found = take(key);
  if (found == nullptr) return;
  const auto* given = found->get_ptr<const json::boolean_t*>();
  if (given == nullptr) return fail(fmt::format("{} must be true or false", key));
  value = *given;
}

void ObjectReader::take(const char* key, double& value, double most) {
  const json* found = take(key);
  if (found == nullptr) return;
  const double given = found->is_number() ? found->get<double>() : -1;
  if (!(given >= 0 && given <= most)) {
    return fail(fmt::format("{} must be a number, 0 to {}", key, most));
  }
  value = given;
}

void ObjectReader::take(const char* key, std::string& value, std::size_t size_max) {
  const json* found = take(key);
  if (found == nullptr) return;
  const auto* text = found->get_ptr<const json::string_t*>();
  if (text == nullptr || text->size() > size_max) {
    return fail(fmt::format("{} must be a text of at most {} letters", key, size_max));
  }
  value = *text;
  std::ranges::replace_if(value, is_control, '?');
}

bool ObjectReader::has(const char* key) const { return json_.is_object() && json_.contains(key); }

void ObjectReader::fail(std::string_view what) {
  if (error_.empty()) error_ = fmt::format("{} {}", name_, what);
}

Result<void, ExchangeError> ObjectReader::check_all_taken() {
  if (error_.empty() && json_.size() != taken_) {
    fail(fmt::format("has {} keys, of which {} are known", json_.size(), taken_));
  }
  if (error_.empty()) return {};
  return failure(ExchangeError{.fault = ExchangeFault::kMalformed, .what = error_});
}

}  // namespace openmrc::host
