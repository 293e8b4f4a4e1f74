// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/core/containers/pool_list.h"
#include "openmrc/core/endpoint/endpoint_state.h"

namespace openmrc::core {

// Whose turn it is to send: queue pairs that may have something to send, in turn (MRC 8: Ready).
// Those that found the window of their peer closed, or no room for more packets in flight, wait
// elsewhere until they are woken (CC-4).
class SendQueue {
 public:
  explicit SendQueue(EndpointState& state) : state_(state) {}

  [[nodiscard]] bool empty() const { return ready_.empty(); }
  [[nodiscard]] QueuePair& first() { return state_.queue_pairs[ready_.first()]; }
  // Takes the first out of the line.
  void pop() {
    first().queued = QueuePair::Queued::kNowhere;
    ready_.pop_front(state_.queue_pairs);
  }

  // The one behind a queue pair in line; null if it is the last.
  [[nodiscard]] const QueuePair* behind(const QueuePair& qp) const {
    return qp.next == kNoElement ? nullptr : state_.queue_pairs.at(qp.next);
  }

  void make_ready(QueuePair& qp) {
    if (qp.queued != QueuePair::Queued::kNowhere) return;
    qp.queued = QueuePair::Queued::kReady;
    qp.burst = 0;
    ready_.push_back(state_.queue_pairs, qp.connection.index);
  }
  // The same, behind those that wait for the window, if any do; wake() is called next. Who sends
  // into nothing time after time does not take it from them (CC-4).
  void make_ready_in_turn(QueuePair& qp) {
    if (state_.peers[qp.connection.peer].waiting.empty()) return make_ready(qp);
    if (qp.queued == QueuePair::Queued::kNowhere) wait_for_window(qp);
  }
  void wait_for_window(QueuePair& qp) { wait(qp, state_.peers[qp.connection.peer].waiting); }
  void wait_for_room(QueuePair& qp) { wait(qp, waiting_for_room_); }

  // As many as the window has room for.
  void wake(Peer& peer);
  void wake_all(Peer& peer);
  // As many as there is room for.
  void wake_for_room() {
    if (!waiting_for_room_.empty()) [[unlikely]]
      wake_some_for_room();
  }

 private:
  void wait(QueuePair& qp, PoolList& list) {
    qp.queued = QueuePair::Queued::kWaiting;
    list.push_back(state_.queue_pairs, qp.connection.index);
  }
  void wake_first(PoolList& list);
  void wake_some_for_room();

  EndpointState& state_;
  PoolList ready_;
  PoolList waiting_for_room_;  // for packets in flight
};

}  // namespace openmrc::core
