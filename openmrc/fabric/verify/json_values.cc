// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/verify/json_values.h"

#include <fmt/format.h>

#include "openmrc/fabric/verify/found.h"
#include "openmrc/text/file_limits.h"

namespace openmrc::fabric {

std::string plain_text(std::string text) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@,";
  if (text.find_first_not_of(kLetters) != std::string::npos) return "invalid";
  return text;
}

std::string text_in(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return "";
  return plain_text(found->get<std::string>());
}

std::optional<std::uint64_t> number_in(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

Result<nlohmann::json, std::string> parse_output(std::string_view text, std::string_view command) {
  const auto wrong = [&](std::string_view why) {
    return failure(fmt::format("'{}' printed {}", command, why));
  };
  if (text.size() > kDeviceOutputBytesMax) return wrong("more than is read");
  if (const auto fits = text::check_json_depth(text); !fits) return wrong(fits.error());
  auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return wrong("no JSON");
  return json;
}

std::string prefix_text(const std::string& to) {
  if (to == "default") return "::/0";
  return to.find('/') == std::string::npos ? to + "/128" : to;
}

}  // namespace openmrc::fabric
