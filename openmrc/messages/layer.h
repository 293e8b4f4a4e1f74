// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/core/containers/growing_ring.h"
#include "openmrc/core/containers/timer_queue.h"
#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/messages/attributes.h"
#include "openmrc/messages/queue_pair.h"
#include "openmrc/messages/work.h"

namespace openmrc::messages {

enum class CreateError : std::uint8_t {
  kLimit,    // of the endpoint, or of limits.h
  kNoQueue,  // there is no such shared receive queue
};

// SEND and receive, READ, atomic operations: what reliable connections of InfiniBand have beyond
// WRITE, over MRC's writes (docs/protocol/messages.md). It holds all queue pairs of one endpoint
// that have messages; others are the endpoint's own business. Like it, it performs no I/O, reads no
// clock, and is owned by the same thread. It must outlive the endpoint's use of its queue pairs.
//
// After each call of the endpoint or of the layer, in this order:
//   endpoint.poll_completion until there is none: handle_completion with each,
//   endpoint.poll_event until there is none: handle_event with each,
//   progress,
// then what the endpoint wants (poll_transmit first), poll_completion and poll_event here. The next
// call is due at the earlier of the two next_deadline; at it, the endpoint's handle_timeout comes
// before the above.
class Layer {
 public:
  explicit Layer(core::Endpoint& endpoint) : endpoint_(endpoint) {}
  ~Layer();
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  // Queue pairs: what the endpoint does, and what the layer has to know of it.
  Result<Qpn, CreateError> create_queue_pair(const QueuePairOptions& options);
  bool destroy_queue_pair(Qpn qpn);
  [[nodiscard]] Result<void, core::ModifyError> to_init(Qpn qpn,
                                                        const core::InitAttributes& attributes,
                                                        const Access& access);
  [[nodiscard]] Result<void, core::ModifyError> to_ready_to_recv(
      Qpn qpn, Instant now, const core::ReadyToRecvAttributes& attributes,
      const ResponderAttributes& responder);
  [[nodiscard]] Result<void, core::ModifyError> to_ready_to_send(
      Qpn qpn, Instant now, const core::ReadyToSendAttributes& attributes,
      const RequesterAttributes& requester);
  // What was posted is flushed by the time that this returns.
  [[nodiscard]] Result<void, core::ModifyError> to_error(Qpn qpn, Instant now);
  // What was posted is forgotten.
  [[nodiscard]] Result<void, core::ModifyError> to_reset(Qpn qpn);

  // As its owner has set it: in RTR it may answer its peer already.
  [[nodiscard]] std::optional<core::QueuePairState> state(Qpn qpn) const;

  // Shared receive queues.
  Result<SharedQueueId, CreateError> create_shared_queue(const QueueOptions& options);
  // False: there is none, or a queue pair has it.
  bool destroy_shared_queue(SharedQueueId id);
  [[nodiscard]] Result<void, PostError> post_shared_receive(SharedQueueId id,
                                                            const ReceiveRequest& request);
  // An event once fewer than so many receives are left; 0: none.
  bool set_shared_limit(SharedQueueId id, std::size_t limit);

  [[nodiscard]] Result<void, PostError> post_send(Qpn qpn, const SendRequest& request);
  [[nodiscard]] Result<void, PostError> post_receive(Qpn qpn, const ReceiveRequest& request);
  // How many sends may be posted before one is refused as too many.
  [[nodiscard]] std::size_t free_sends(Qpn qpn) const;

  // The endpoint's. Peers may still be reading the region: its bytes stay until they are not, or
  // their queue pairs have been failed.
  bool deregister_memory(RKey key) { return endpoint_.deregister_memory(key); }
  [[nodiscard]] bool is_read_from(RKey key) const;
  void fail_readers(Instant now, RKey key);

  // What the endpoint's polls gave. Returns whether it was about a queue pair of the layer.
  bool handle_completion(const core::Completion& completion);
  bool handle_event(const core::Event& event);
  // Whatever can be done, or is due by `now`.
  void progress(Instant now);
  // It has something to do before the next deadline.
  [[nodiscard]] bool wants_progress() const { return !touched_.empty(); }
  // No queue pair has messages.
  [[nodiscard]] bool empty() const { return by_number_.empty(); }
  [[nodiscard]] std::optional<Instant> next_deadline() const { return timers_.next(); }

  [[nodiscard]] std::optional<Completion> poll_completion();
  [[nodiscard]] std::optional<Event> poll_event();

 private:
  [[nodiscard]] QueuePair* find(Qpn qpn);
  void use_room(Instant now);
  void look_at(std::uint32_t index, Instant now);
  void fail(QueuePair& qp, Instant now);
  void wait_for_receives(std::uint32_t index, QueuePair& qp);
  void tell_of_refusal(const QueuePair& qp);

  core::Endpoint& endpoint_;
  core::GrowingRing<Completion> completions_;
  core::GrowingRing<Event> events_;
  core::GrowingRing<std::uint32_t> touched_;
  core::GrowingRing<std::uint32_t> without_room_;  // wait for the endpoint, the first longest
  core::TimerQueue timers_;
  std::vector<std::unique_ptr<QueuePair>> queue_pairs_;  // null where one has gone
  std::vector<std::uint32_t> free_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_number_;
  std::vector<std::unique_ptr<SharedQueue>> shared_;
};

}  // namespace openmrc::messages
