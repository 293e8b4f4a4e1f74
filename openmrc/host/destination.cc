// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/destination.h"

#include <fmt/core.h>

#include <algorithm>

namespace openmrc::host {

ConnectionInfo own_info(const Host& host) {
  const Config& config = host.config();
  const profile::TransportProfile& transport = config.transport;
  ConnectionInfo info{.host = config.name,
                      .mtu = transport.mtu,
                      .mpr = transport.mpr,
                      .max_wimm = transport.max_wimm,
                      .dynamic_mpr = transport.dynamic_mpr};
  for (const datapath::Port& port : config.ports) info.addresses.push_back(port.address);
  if (host.paths().own()) info.fabric_host = host.paths().own()->raw();
  return info;
}

Result<Destination, Error> destination_of(const Host& host, const ConnectionInfo& peer) {
  const Config& config = host.config();
  const profile::PathPlan& paths = host.paths();
  Destination to{.name = peer.host, .addresses = peer.addresses};
  if (peer.fabric_host) to.place = fabric::HostIndex(*peer.fabric_host);
  if (paths.plan() && (!to.place || !paths.plan()->fabric().has(*to.place))) {
    return failure(
        Error{.what = fmt::format("{} has no place in the fabric of openmrc.toml", peer.host),
              .remedy = "give both hosts the same section fabric"});
  }
  if (std::ranges::any_of(peer.addresses, [&](const wire::Ipv6Address& address) {
        return version_of(address) != ip_version(config);
      })) {
    return failure(Error{
        .what = fmt::format("{} is configured for another IP version: its addresses and those "
                            "of {} are of IPv4 and IPv6",
                            peer.host, config.name),
        .remedy = "give the ports of both hosts addresses of one of the two"});
  }
  return to;
}

std::string_view text_of(core::ModifyError error) {
  using core::ModifyError;
  switch (error) {
    case ModifyError::kNoQueuePair: return "no such queue pair";
    case ModifyError::kTransition: return "it is connected already or has failed";
    case ModifyError::kProfile: return "no such EV or congestion profile";
    case ModifyError::kPlanes: return "the two hosts have a different number of planes";
    case ModifyError::kEvFormat: return "the EVs need IPv6, and an address is IPv4";
    case ModifyError::kMtu: return "the MTU is out of range";
    case ModifyError::kWindow: return "the peer offers no window";
    case ModifyError::kRetry: return "a timeout or retry count is above its maximum";
    case ModifyError::kRemoteQpn: return "the peer's queue pair number is reserved";
  }
  return {};
}

}  // namespace openmrc::host
