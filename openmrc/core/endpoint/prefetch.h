// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/core/containers/prefetch_memory.h"
#include "openmrc/core/endpoint/endpoint_state.h"

// What a queue pair works with is in several places, each of which names the next, and with many
// queue pairs none of them is in the cache. Who knows whose turn comes asks for the first early,
// for the next a bit later, and so on. Nothing changes but the time that it takes.
namespace openmrc::core {

class Prefetch {
 public:
  explicit Prefetch(const EndpointState& state) : state_(state) {}

  // First the queue pair, then its peer, then what both point to. Null: there is none.
  static void queue_pair(const QueuePair* qp) {
    if (qp != nullptr) prefetch_memory(qp, sizeof *qp);
  }
  void peer(const QueuePair* qp) const {
    if (qp == nullptr) return;
    const Peer* peer = state_.peers.find(qp->connection.peer);
    if (peer != nullptr) prefetch_memory(peer, sizeof *peer);
    qp->requestor.window().prefetch_slot();
    qp->responder.window().prefetch();
  }
  void flight(const QueuePair* qp) const {
    if (qp == nullptr) return;
    const Peer* peer = state_.peers.find(qp->connection.peer);
    if (peer == nullptr) return;
    prefetch_memory(peer->addresses.data(), peer->addresses.size() * sizeof(wire::Ipv6Address));
    peer->reverse.prefetch();
    qp->requestor.window().prefetch_packets(state_.context.sent);
  }
  // Of one that will send: what it takes to choose paths.
  void paths(const QueuePair* qp) const {
    const Peer* peer = qp == nullptr ? nullptr : state_.peers.find(qp->connection.peer);
    if (peer == nullptr) return;
    peer->paths.prefetch();
    peer->losses.prefetch(peer->paths.profile().path_count());
  }

 private:
  const EndpointState& state_;
};

}  // namespace openmrc::core
