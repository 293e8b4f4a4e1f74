// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/host/config.h"
#include "openmrc/host/exchange.h"

namespace openmrc::tools {

// How to fix a connection that failed: the names of the fabric's hosts if a name did not resolve,
// otherwise `start_server`.
std::string exchange_remedy(const host::ExchangeError& error, const host::Config& config,
                            std::string start_server);

}  // namespace openmrc::tools
