// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/messages/queue_pair.h"

namespace openmrc::messages {

QueuePair::QueuePair(core::Endpoint& endpoint, core::GrowingRing<Completion>& completions,
                     core::GrowingRing<std::uint32_t>& touched, std::uint32_t index,
                     const QueuePairOptions& options, SharedQueue* shared_queue)
    : link{.endpoint = endpoint, .completions = completions},
      shared(shared_queue),
      touched_(touched),
      index_(index),
      own_receives(shared_queue == nullptr ? options.receives
                                           : QueueOptions{.requests = 0, .segments = 0}),
      requester(link, options),
      responder(link, shared_queue == nullptr ? own_receives : shared_queue->receives,
                shared_queue == nullptr ? nullptr : &shared_queue->sharers) {}

void QueuePair::touch() {
  if (is_touched_) return;
  is_touched_ = true;
  touched_.push(index_);
}

core::MessageHandler::Verdict QueuePair::judged(Verdict verdict) {
  touch();
  if (verdict != Verdict::kTaken && verdict != Verdict::kNotNow) broken = true;
  return verdict;
}

core::MessageHandler::Verdict QueuePair::on_part(const Part& part) {
  return judged(take_part(Name::read(part.name), part));
}

// MSG-6, MSG-50: whatever is not known is refused.
core::MessageHandler::Verdict QueuePair::take_part(const Name& name, const Part& part) {
  switch (name.kind) {
    case Kind::kSend: return responder.on_send_part(name, part);
    case Kind::kReadRequest:
    case Kind::kAtomicRequest: return responder.on_request_part(name, part);
    case Kind::kReadResponse:
    case Kind::kAtomicResponse: return requester.on_response_part(name, part);
    case Kind::kCredit: return requester.on_credit(part);
    case Kind::kAsk: return responder.on_ask(part);
    case Kind::kWriteNotice: break;  // has no bytes
  }
  return Verdict::kInvalid;
}

core::MessageHandler::Verdict QueuePair::on_delivery(const Delivery& delivery) {
  // MSG-14
  if (delivery.key != core::kMessageKey) return judged(responder.on_write_immediate(delivery));
  return judged(take_delivery(Name::read(delivery.name), delivery));
}

core::MessageHandler::Verdict QueuePair::take_delivery(const Name& name, const Delivery& delivery) {
  switch (name.kind) {
    case Kind::kSend: return responder.on_send(name, delivery);
    case Kind::kWriteNotice: return responder.on_write_notice(name, delivery);
    case Kind::kReadRequest:
    case Kind::kAtomicRequest: return responder.on_request(name, delivery);
    case Kind::kReadResponse:
    case Kind::kAtomicResponse: return requester.on_response(name, delivery);
    case Kind::kCredit:
    case Kind::kAsk: break;  // have no immediate
  }
  return Verdict::kInvalid;
}

void QueuePair::on_completion(const core::Completion& completion) {
  if (flushed) return;
  touch();
  const CoreWork work = CoreWork::read(completion.id);
  if (work.purpose == CoreWork::Purpose::kUser) {
    requester.on_written(work.number, completion.status);
  }
  if (completion.status != core::WorkStatus::kSuccess) {
    broken = true;
    // A message of the layer's own found the peer silent, or in ERROR: the first that waits is
    // told.
    if (completion.status != core::WorkStatus::kFlushed && !unattributed_) {
      unattributed_ = status_of(completion.status);
    }
    return;
  }
  switch (work.purpose) {
    case CoreWork::Purpose::kUser: break;
    case CoreWork::Purpose::kCredit: return responder.on_credit_sent();
    case CoreWork::Purpose::kAsk: return requester.on_asked();
    case CoreWork::Purpose::kResponse: return responder.on_responded();
  }
}

// MSG-27: in RTR nothing can be sent before the peer has said with which PSN.
bool QueuePair::may_answer(Instant now) {
  const auto state = link.endpoint.state(link.qpn);
  if (state == core::QueuePairState::kReadyToSend) return true;
  const auto answers = responder.answers();
  if (state != core::QueuePairState::kReadyToRecv || !answers) return false;
  return link.endpoint.to_ready_to_send(link.qpn, now, *answers).has_value();
}

bool QueuePair::progress(Instant now) {
  if (broken) return false;
  link.lacks_room = false;
  if (!may_answer(now)) return true;
  return responder.progress(now) && requester.progress(now);
}

void QueuePair::flush() {
  flushed = true;
  requester.flush(unattributed_);
  responder.flush();
}

void QueuePair::forget() {
  broken = flushed = ready_to_send = false;
  unattributed_.reset();
  requester.forget();
  responder.forget();
}

}  // namespace openmrc::messages
