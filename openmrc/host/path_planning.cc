// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/path_planning.h"

#include <string>
#include <utility>

#include "openmrc/host/random.h"

namespace openmrc::host {
namespace {

Error unusable(const core::EvProfileError& error) {
  return {.what = "the paths cannot be used: " + to_string(error),
          .remedy = "change evs in openmrc.toml"};
}

}  // namespace

Result<profile::PathPlan, Error> plan_paths(const Config& config) {
  profile::PathOptions options = config.transport.paths;
  if (config.mode == datapath::Mode::kUdp) {
    // Feedback names the EVs that it is about: who does not see packets should not know them.
    // SEC-4
    if (!options.seed) options.seed = random_number();
    return profile::PathPlan::hashed(config.ports.size(), options, ip_version(config));
  }
  if (!config.fabric) {
    return failure(Error{.what = "there is no section fabric in openmrc.toml, and paths that name "
                                 "switches are made from it",
                         .remedy = "add it, or set mode = \"udp\""});
  }
  const auto fabric = fabric::Fabric::make(config.fabric->shape);
  if (!fabric) {
    return failure(Error{.what = "section fabric: " + std::string(describe(fabric.error()))});
  }
  auto paths = profile::PathPlan::in_fabric(fabric::UsidPlan(*fabric, config.fabric->block),
                                            config.fabric->host, options);
  if (!paths) return failure(unusable(paths.error()));
  return std::move(*paths);
}

}  // namespace openmrc::host
