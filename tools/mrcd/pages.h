// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "openmrc/agent/agent.h"
#include "openmrc/host/config.h"
#include "openmrc/host/metrics.h"
#include "openmrc/prober/prober.h"
#include "tools/mrcd/page_server.h"

namespace openmrc::tools {

// What mrcd shows over HTTP: /metrics to Prometheus, if it was built with prometheus-cpp, and /map
// to `mrc map`, if there is a prober. Both outlive the server of the pages.
std::vector<Page> pages_of(libmrc::Agent& agent, const prober::Prober* prober,
                           const host::MetricsConfig& config);

}  // namespace openmrc::tools
