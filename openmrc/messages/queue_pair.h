// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/containers/timer_queue.h"
#include "openmrc/core/memory/message_handler.h"
#include "openmrc/messages/link.h"
#include "openmrc/messages/receive_queue.h"
#include "openmrc/messages/requester.h"
#include "openmrc/messages/responder.h"

namespace openmrc::messages {

// Receives that many queue pairs take from.
struct SharedQueue {
  explicit SharedQueue(const QueueOptions& options) : receives(options) {}

  ReceiveQueue receives;
  std::size_t sharers = 0;
  std::size_t limit = 0;                     // kReceivesLow once there are fewer
  core::GrowingRing<std::uint32_t> lacking;  // queue pairs that wait for a receive
};

// One queue pair with messages. The layer moves it; the core calls it while it handles a packet.
class QueuePair final : public core::MessageHandler {
 public:
  QueuePair(core::Endpoint& endpoint, core::GrowingRing<Completion>& completions,
            core::GrowingRing<std::uint32_t>& touched, std::uint32_t index,
            const QueuePairOptions& options, SharedQueue* shared);

  [[nodiscard]] Verdict on_part(const Part& part) override;
  [[nodiscard]] Verdict on_delivery(const Delivery& delivery) override;

  // From the core.
  void on_completion(const core::Completion& completion);

  // It is to be looked at.
  void touch();
  void untouch() { is_touched_ = false; }
  // Does what can be done. False: it must fail.
  [[nodiscard]] bool progress(Instant now);
  // Ends all that was posted.
  void flush();
  void forget();

  Link link;
  SharedQueue* shared;
  // The owner said so. The endpoint may be earlier: it answers the peer from RTR on (MSG-27).
  bool ready_to_send = false;
  bool broken = false;       // the core, or what came from the peer, ends it
  bool flushed = false;      // and all that was posted has been
  bool is_lacking = false;   // it is on the list of its shared queue
  bool awaits_room = false;  // it is on the layer's list
  core::Timer timer;

 private:
  [[nodiscard]] bool may_answer(Instant now);
  [[nodiscard]] Verdict judged(Verdict verdict);
  [[nodiscard]] Verdict take_part(const Name& name, const Part& part);
  [[nodiscard]] Verdict take_delivery(const Name& name, const Delivery& delivery);

  core::GrowingRing<std::uint32_t>& touched_;
  std::uint32_t index_;
  bool is_touched_ = false;
  std::optional<Status> unattributed_;  // what ended it, if that was no request's fault

 public:
  ReceiveQueue own_receives;
  Requester requester;
  Responder responder;
};

}  // namespace openmrc::messages
