// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/host/error.h"
#include "openmrc/host/metrics.h"

namespace openmrc::tools {

// Serves /metrics to Prometheus. Needs prometheus-cpp at build time.
class MetricsServer {
 public:
  // Called on a thread of the server's for each scrape.
  using Source = std::function<std::vector<host::Sample>()>;

  // `address`: such as "127.0.0.1:9917" or "[::1]:9917".
  static Result<MetricsServer, host::Error> open(const std::string& address, Source source);
  MetricsServer(MetricsServer&&) noexcept;
  MetricsServer& operator=(MetricsServer&&) noexcept;
  ~MetricsServer();

 private:
  struct Parts;
  explicit MetricsServer(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace openmrc::tools
