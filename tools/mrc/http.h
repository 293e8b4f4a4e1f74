// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"

// Pages of agents, read over HTTP.
namespace openmrc::tools {

struct Url {
  std::string host{};
  std::string port{};
  std::string path{};

  bool operator==(const Url&) const = default;
};

inline constexpr std::string_view kAgentPort = "9917";

// "http://host:port/path"; all but the host may be left out, and is then the port of agents and
// `path`. An address of IPv6 is in brackets.
Result<Url, std::string> parse_url(std::string_view text, std::string_view path);

struct FetchLimits {
  Duration timeout{};  // for everything
  std::size_t bytes_max = 0;
};
// The body of what a GET of HTTP/1.0 gives, or why there is none.
Result<std::string, std::string> fetch(const Url& url, const FetchLimits& limits);

// What an HTTP response carries, if it says that all is well.
Result<std::string, std::string> body_of(std::string_view response);

}  // namespace openmrc::tools
