// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "openmrc/core/context/context.h"
#include "openmrc/core/endpoint/profile_table.h"
#include "openmrc/core/endpoint/queue_pair_table.h"
#include "openmrc/core/paths/plane_mask.h"
#include "openmrc/core/peer/peer_table.h"
#include "openmrc/core/peer/turn.h"

namespace openmrc::core {

// What the parts of an endpoint share.
struct EndpointState {
  EndpointState(const EndpointSettings& settings, TraceSink* trace)
      : context(settings, trace),
        queue_pairs({.first = settings.first_qpn,
                     .count = std::max(settings.qpns, settings.limits.queue_pairs),
                     .secret = settings.secret},
                    settings.limits.queue_pairs),
        plane_count(settings.addresses.size()),
        local_ports(PlaneMask::first(plane_count)) {}

  [[nodiscard]] std::size_t planes() const { return plane_count; }
  [[nodiscard]] Turn turn(QueuePair& qp, Instant now) {
    return {context, qp.connection, peers[qp.connection.peer], now};
  }
  // Ports that are up at both ends.
  [[nodiscard]] PlaneMask ports_to(const Peer& peer) const {
    return local_ports & peer.remote_ports;
  }

  Context context;
  ProfileTable profiles;
  QueuePairTable queue_pairs;
  PeerTable peers;
  std::size_t plane_count;
  PlaneMask local_ports;  // that are up
};

}  // namespace openmrc::core
