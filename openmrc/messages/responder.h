// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "openmrc/base/time.h"
#include "openmrc/core/containers/growing_ring.h"
#include "openmrc/core/memory/memory_regions.h"
#include "openmrc/core/memory/message_handler.h"
#include "openmrc/messages/attributes.h"
#include "openmrc/messages/link.h"
#include "openmrc/messages/name.h"
#include "openmrc/messages/receive_queue.h"
#include "openmrc/messages/records.h"

namespace openmrc::messages {

// The receiving half of a queue pair with messages: puts SENDs into receives, says how many there
// are, executes what the peer asks for.
class Responder {
 public:
  using Verdict = core::MessageHandler::Verdict;
  using Part = core::MessageHandler::Part;
  using Delivery = core::MessageHandler::Delivery;

  // `sharers`: how many queue pairs take from `receives`; null if it is this one's own.
  Responder(const Link& link, ReceiveQueue& receives, const std::size_t* sharers)
      : link_(link), receives_(receives), sharers_(sharers) {}

  void allow(core::ProtectionDomain domain, const Access& access) {
    domain_ = domain;
    access_ = access;
  }
  void connect(const ResponderAttributes& attributes);

  // From the network.
  [[nodiscard]] Verdict on_send_part(const Name& name, const Part& part);
  [[nodiscard]] Verdict on_send(const Name& name, const Delivery& delivery);
  [[nodiscard]] Verdict on_write_immediate(const Delivery& delivery);
  [[nodiscard]] Verdict on_write_notice(const Name& name, const Delivery& delivery);
  [[nodiscard]] Verdict on_request_part(const Name& name, const Part& part);
  [[nodiscard]] Verdict on_request(const Name& name, const Delivery& delivery);
  [[nodiscard]] Verdict on_ask(const Part& part);

  // From the core.
  void on_credit_sent() { --credits_in_flight_; }
  void on_responded();

  // Sends what there is to say, if the queue pair is ready to send. False: it must fail.
  [[nodiscard]] bool progress(Instant now);
  // Whether it would go on if the shared queue had a receive.
  [[nodiscard]] bool lacks_receives() const {
    return has_too_few() || (receives_.empty() && advertised_ == arrived_);
  }
  // MSG-27: how answers are to be sent before the queue pair is ready to send, once the peer asks.
  [[nodiscard]] std::optional<core::ReadyToSendAttributes> answers() const {
    if (!asked_with_) return std::nullopt;
    core::ReadyToSendAttributes attributes = attributes_.answers;
    attributes.first_psn = *asked_with_;
    return attributes;
  }
  // Whether a response is being sent from memory with this key.
  [[nodiscard]] bool reads_from(RKey key) const;

  // Ends all receives that are its own.
  void flush();
  void forget();

 private:
  // A message that has arrived and is for the next receive.
  struct Arrival {
    std::uint64_t length = 0;
    wire::Immediate immediate{};
    bool has_immediate = false;
    bool solicited = false;
    bool is_write = false;
  };
  struct Response {
    Kind kind = Kind::kReadResponse;
    std::int64_t number = 0;
    const std::byte* data = nullptr;
    std::uint32_t length = 0;
    RKey key{};
  };

  [[nodiscard]] bool bind_to(std::int64_t sequence);
  // Whether a message that the peer has sent has no receive: others were faster (MSG-29).
  [[nodiscard]] bool has_too_few() const { return std::max(wanted_, arrived_) > bound_; }
  [[nodiscard]] Verdict arrive(const Arrival& arrival);
  [[nodiscard]] Verdict finish(const Arrival& arrival);
  void match();
  void complete(ReceiveQueue::Slot slot, const Arrival& arrival, Status status);
  [[nodiscard]] Verdict execute(const RemoteRequest& request);
  [[nodiscard]] Verdict read_for(const RemoteRequest& request);
  [[nodiscard]] Verdict change_for(const RemoteRequest& request);
  [[nodiscard]] std::int64_t limit() const;
  [[nodiscard]] bool credit_is_due() const;
  [[nodiscard]] bool credit_is_needed() const;
  [[nodiscard]] bool send_credit(Instant now);
  [[nodiscard]] bool send_responses(Instant now);

  const Link& link_;
  ReceiveQueue& receives_;
  const std::size_t* sharers_;
  core::ProtectionDomain domain_ = core::kNoDomain;
  Access access_{};
  ResponderAttributes attributes_{};

  // Messages that take a receive, by their sequence number: complete <= arrived, bound.
  std::int64_t completed_ = 0;
  std::int64_t arrived_ = 0;
  std::int64_t bound_ = 0;
  std::int64_t wanted_ = 0;                      // one past the last of which bytes have come
  std::int64_t advertised_ = 0;                  // the peer may send what is below
  core::GrowingRing<ReceiveQueue::Slot> slots_;  // from `completed_` to `bound_`
  core::GrowingRing<Arrival> unmatched_;         // arrived, and there was no receive
  bool credit_wanted_ = false;
  bool told_too_few_ = false;  // the peer knows that it waits for a receive
  unsigned credits_in_flight_ = 0;
  std::uint16_t echo_ = 0;
  std::optional<Psn> asked_with_;  // the PSN that the peer expects
  std::array<std::byte, Credit::kSize> credit_bytes_{};

  // What the peer asks for.
  std::int64_t executed_ = 0;
  std::array<std::array<std::byte, RemoteRequest::kSize>, kDepthMax> requests_{};
  std::array<std::uint64_t, kDepthMax> results_{};
  core::GrowingRing<Response> responses_;  // not acknowledged; the first `responded_` are sent
  std::size_t responded_ = 0;
};

}  // namespace openmrc::messages
