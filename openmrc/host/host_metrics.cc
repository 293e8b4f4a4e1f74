// SPDX-License-Identifier: BSD-3-Clause
// What monitoring sees of a host's shards.
#include <cerrno>
#include <cstring>
#include <system_error>

#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/host/host.h"
#include "openmrc/host/host_values.h"
#include "openmrc/host/publisher.h"

namespace openmrc::host {
namespace {

// So many peers are looked at before a shard goes on with its work.
constexpr core::PeerIndex kPeersInARow = 64;

void add_paths(const core::PathSet& paths, HostValues& values) {
  const core::EvProfile& profile = paths.profile();
  for (std::size_t i = 0; i < profile.size(); ++i) {
    const core::EvIndex ev(static_cast<std::uint8_t>(i));
    ++values.at(HostValues::place(paths.state(ev), profile.entry(ev).plane.raw()));
  }
}

// Returns whether there are more.
bool add_peers(const core::PeerTable& peers, core::PeerIndex first, HostValues& values) {
  for (core::PeerIndex i = first; i < first + kPeersInARow; ++i) {
    const core::Peer* const peer = peers.find(i);
    if (peer == nullptr) continue;
    ++values.at(HostValues::place(Gauge::kPeers));
    values.at(HostValues::place(Gauge::kQueuePairs)) += peer->queue_pairs;
    add_paths(peer->paths, values);
  }
  return first + kPeersInARow < peers.size();
}

void add_shard(Shard& shard, HostValues& values) {
  shard.look([&](const core::Endpoint& endpoint, const datapath::Datapath& datapath) {
    values.add(endpoint.counters());
    values.add(datapath.counters());
  });
  bool more = true;
  for (core::PeerIndex first = 0; more; first += kPeersInARow) {
    more = shard.look([&](const core::Endpoint& endpoint, const datapath::Datapath&) {
      return add_peers(endpoint.peers(), first, values);
    });
  }
}

}  // namespace

void Host::add_values(HostValues& values) const {
  for (const auto& shard : shards_) add_shard(*shard, values);
  for (std::size_t i = 0; i < config_.ports.size(); ++i) {
    const bool is_up = port_is_up(Plane(static_cast<std::uint8_t>(i)));
    values.at(HostValues::place_of_port_down(i)) += is_up ? 0 : 1;
  }
}

// Without a thread for it the host works as well, unseen.
void Host::start_publishing() {
  if (!config_.metrics.publish) return;
  try {
    publisher_ =
        std::make_unique<Publisher>(Publisher::Options{.program = program_invocation_short_name,
                                                       .planes = config_.ports.size()},
                                    [this](HostValues& values) { add_values(values); });
  } catch (const std::system_error&) {
    publisher_.reset();
  }
}

}  // namespace openmrc::host
