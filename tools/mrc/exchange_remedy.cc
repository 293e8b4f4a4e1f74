// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/exchange_remedy.h"

#include <fmt/core.h>

#include <utility>

namespace openmrc::tools {

std::string exchange_remedy(const host::ExchangeError& error, const host::Config& config,
                            std::string start_server) {
  if (error.fault != host::ExchangeFault::kName) return start_server;
  if (!config.fabric) return "give an address, or add the name to /etc/hosts";
  const fabric::Shape& shape = config.fabric->shape;
  return fmt::format("hosts of this fabric are h0-h{}", shape.racks * shape.hosts_per_rack - 1);
}

}  // namespace openmrc::tools
