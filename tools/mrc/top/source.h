// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "openmrc/agent/agent_client.h"
#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/host/error.h"

namespace openmrc::tools::top {

// Where the numbers come from: this host's agent, or one that serves metrics over HTTP.
class Source {
 public:
  virtual ~Source() = default;
  // Prometheus text.
  virtual Result<std::string, host::Error> fetch() = 0;
};

std::unique_ptr<Source> agent_source(const std::string& socket);
// "h3:9917", "http://h3:9917/metrics"; nothing if it is no such address.
std::unique_ptr<Source> http_source(const std::string& url);

// Of a URL. Empty parts: as by default.
struct HttpAddress {
  std::string host{};
  std::string port = "9917";
  std::string path = "/metrics";
};
std::optional<HttpAddress> parse_url(std::string_view url);
// The body of an answer, if it is a good one; otherwise what is wrong with it.
Result<std::string, std::string> body_of(std::string_view answer);

}  // namespace openmrc::tools::top
