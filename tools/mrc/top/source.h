// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "openmrc/base/result.h"
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

}  // namespace openmrc::tools::top
