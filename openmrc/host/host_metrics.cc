// SPDX-License-Identifier: BSD-3-Clause
// What monitoring sees of a host's shards.
#include <cerrno>
#include <cstring>
#include <exception>

#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/host/host.h"
#include "openmrc/host/host_values.h"
#include "openmrc/host/publisher.h"

namespace openmrc::host {
namespace {

// Counters are looked at so often before the paths of all peers are counted again.
constexpr unsigned kLooksAtCounters = 10;
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

void add_counters(Shard& shard, HostValues& values) {
  shard.look([&](const core::Endpoint& endpoint) { values.add(endpoint.counters()); });
  shard.look_at_datapath(
      [&](const datapath::Datapath& datapath) { values.add(datapath.counters()); });
}

void add_gauges(Shard& shard, HostValues& values) {
  bool more = true;
  for (core::PeerIndex first = 0; more; first += kPeersInARow) {
    more = shard.look(
        [&](const core::Endpoint& endpoint) { return add_peers(endpoint.peers(), first, values); });
  }
}

}  // namespace

void Host::add_counters(HostValues& values) const {
  for (const auto& shard : shards_) host::add_counters(*shard, values);
}

void Host::add_gauges(HostValues& values) const {
  for (const auto& shard : shards_) host::add_gauges(*shard, values);
  for (std::size_t i = 0; i < config_.ports.size(); ++i) {
    const bool is_up = port_is_up(Plane(static_cast<std::uint8_t>(i)));
    values.at(HostValues::place_of_port_down(i)) += is_up ? 0 : 1;
  }
}

// Without a thread or memory for it the host works as well, unseen.
void Host::start_publishing() {
  if (!config_.metrics.publish) return;
  try {
    publisher_ = std::make_unique<Publisher>(
        Publisher::Options{.program = program_invocation_short_name,
                           .planes = config_.ports.size()},
        [this, gauges = HostValues(), turn = 0U](HostValues& values) mutable {
          if (turn++ % kLooksAtCounters == 0) {
            gauges = {};
            add_gauges(gauges);
          }
          values.copy_gauges(gauges);
          add_counters(values);
        });
  } catch (const std::exception&) {
    publisher_.reset();
  }
}

}  // namespace openmrc::host
