// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/send_queue.h"

namespace openmrc::core {

void SendQueue::wake_first(PoolList& list) {
  QueuePair& first = state_.queue_pairs[list.pop_front(state_.queue_pairs)];
  first.queued = QueuePair::Queued::kNowhere;
  make_ready(first);
}

// In the order in which they came. No spurious wakeups: who finds the window closed goes to the end
// of the line, and could miss every opening.
void SendQueue::wake(Peer& peer) {
  for (ByteCount taken; !peer.waiting.empty();) {
    const QueuePair& first = state_.queue_pairs[peer.waiting.first()];
    const ByteCount size = nominal_size(first.connection.mtu, false);
    const bool fits = peer.in_flight + taken + size <= peer.congestion.window();
    if (!fits && !(peer.nothing_moves() && taken == ByteCount(0))) return;
    wake_first(peer.waiting);
    taken += size;
  }
}

void SendQueue::wake_all(Peer& peer) {
  while (!peer.waiting.empty()) wake_first(peer.waiting);
}

void SendQueue::wake_some_for_room() {
  for (std::size_t room = state_.context.sent.room(); room > 0 && !waiting_for_room_.empty();
       --room) {
    wake_first(waiting_for_room_);
  }
}

}  // namespace openmrc::core
