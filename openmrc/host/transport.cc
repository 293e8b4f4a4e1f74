// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/transport.h"

#include <string>
#include <utility>

namespace openmrc::host {
namespace {

Error unusable(const core::EvProfileError& error) {
  return {.what = "the paths cannot be used: " + to_string(error),
          .remedy = "change evs in openmrc.toml"};
}

}  // namespace

profile::TransportProfile profile_of(const Config& config) {
  profile::TransportProfile made = profile::preset(profile::Preset::kSoftware);
  made.mtu = config.mtu;
  made.pkey = PKey(config.pkey);
  made.udp_port = config.wire.udp_port;
  made.paths.evs = static_cast<std::uint32_t>(config.paths.evs);
  made.paths.seed = config.paths.seed;
  made.burst = static_cast<std::uint8_t>(config.paths.burst);
  made.reorder_floor = config.paths.reorder_floor;
  made.probe = {.probe_successes = config.paths.probe_successes,
                .interval_max = config.paths.probe_interval_max};
  made.retry = {.timeout = config.retry.timeout,
                .linear = config.retry.linear,
                .exponential = config.retry.exponential};
  made.congestion.algorithm = config.congestion.algorithm == CongestionAlgorithm::kFixed
                                  ? profile::CongestionAlgorithm::kFixed
                                  : profile::CongestionAlgorithm::kNscc;
  if (config.congestion.window) {
    made.congestion.window = ByteCount(static_cast<std::int64_t>(*config.congestion.window));
  }
  made.limits.queue_pairs = config.queue_pairs_max;
  return made;
}

profile::NetworkFigures network_figures(const Config& config) {
  return {.base_rtt = config.congestion.base_rtt,
          .bits_per_second = config.congestion.bits_per_second,
          .trimming = config.congestion.trimming};
}

core::NsccSettings nscc_settings(const Config& config) {
  return profile::nscc_settings(profile_of(config), network_figures(config));
}

Result<profile::PathPlan, Error> plan_paths(const Config& config) {
  const profile::PathOptions options = profile_of(config).paths;
  if (config.mode == datapath::Mode::kUdp) {
    return profile::PathPlan::hashed(config.ports.size(), options);
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
