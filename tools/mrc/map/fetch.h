// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"

namespace openmrc::tools {

struct Url {
  std::string host{};
  std::string port = "9471";
  std::string path = "/map";

  bool operator==(const Url&) const = default;
};

// "http://host:port/path"; all but the host may be left out. An address of IPv6 is in brackets.
Result<Url, std::string> parse_url(std::string_view text);

// The body of what a GET of HTTP/1.0 gives, all of it within `timeout`, or why there is none.
Result<std::string, std::string> fetch(const Url& url, Duration timeout);

// What an HTTP response carries, if it says that all is well.
Result<std::string, std::string> body_of(std::string_view response);

}  // namespace openmrc::tools
