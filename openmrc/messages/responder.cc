// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/messages/responder.h"

#include <algorithm>
#include <bit>

#include "openmrc/messages/scatter.h"

namespace openmrc::messages {

void Responder::connect(const ResponderAttributes& attributes) {
  attributes_ = attributes;
  attributes_.depth = std::min(attributes.depth, kDepthMax);
  credit_wanted_ = true;
}

// ---- receives ----

// MSG-15: receives are taken in the order of the messages, whatever comes first. False: a shared
// queue is empty.
bool Responder::bind_to(std::int64_t sequence) {
  while (bound_ <= sequence) {
    if (receives_.empty()) return false;
    slots_.push(receives_.take());
    ++bound_;
  }
  match();
  return true;
}

// MSG-9, MSG-13, MSG-16
Responder::Verdict Responder::on_send_part(const Name& name, const Part& part) {
  const std::int64_t sequence = UnwrappedSequence(arrived_).nearest(name.sequence).raw();
  if (sequence < arrived_ || sequence >= advertised_) return Verdict::kInvalid;
  wanted_ = std::max(wanted_, sequence + 1);
  if (!bind_to(sequence)) return Verdict::kNotNow;
  const ReceiveQueue::Slot slot = slots_[static_cast<std::size_t>(sequence - completed_)];
  ReceiveQueue::Receive& receive = receives_[slot];
  if (std::uint64_t{name.offset} + part.payload.size() > receive.size) receive.too_short = true;
  // What is wrong is said when it is its turn.
  if (receive.too_short || !receive.keys_ok || !part.payload.has_bytes()) return Verdict::kTaken;
  scatter(receives_.segments(slot), name.offset, part.payload.bytes());
  return Verdict::kTaken;
}

Responder::Verdict Responder::on_send(const Name& name, const Delivery& delivery) {
  const std::uint64_t length = std::uint64_t{name.offset} + delivery.length;
  // Without bytes there is nothing that they could come after.
  const bool is_odd = delivery.length == 0 && name.offset != 0;
  if (name.sequence != Sequence{} + arrived_ || length > kMessageMax || is_odd) {
    return Verdict::kInvalid;
  }
  return arrive({.length = length,
                 .immediate = delivery.immediate,
                 .has_immediate = name.has_immediate,
                 .solicited = name.solicited});
}

// MSG-14: MRC has no bit for a solicited event of a write; what is solicited has a notice.
Responder::Verdict Responder::on_write_immediate(const Delivery& delivery) {
  return arrive({.length = delivery.length,
                 .immediate = delivery.immediate,
                 .has_immediate = true,
                 .solicited = false,
                 .is_write = true});
}

// MSG-18
Responder::Verdict Responder::on_write_notice(const Name& name, const Delivery& delivery) {
  if (name.sequence != Sequence{} + arrived_ || delivery.length != 0 || name.offset > kMessageMax) {
    return Verdict::kInvalid;
  }
  return arrive({.length = name.offset,
                 .immediate = delivery.immediate,
                 .has_immediate = true,
                 .solicited = name.solicited,
                 .is_write = true});
}

// MSG-10: the peer counts as we do.
Responder::Verdict Responder::arrive(const Arrival& arrival) {
  if (arrived_ >= advertised_) return Verdict::kInvalid;
  const bool bound = bind_to(arrived_) && unmatched_.empty();
  ++arrived_;
  if (bound) return finish(arrival);
  // MSG-23
  unmatched_.push(arrival);
  return Verdict::kTaken;
}

Responder::Verdict Responder::finish(const Arrival& arrival) {
  const ReceiveQueue::Slot slot = slots_.pop();
  ++completed_;
  const ReceiveQueue::Receive& receive = receives_[slot];
  // MSG-42
  const bool too_long = receive.too_short || (!arrival.is_write && arrival.length > receive.size);
  if (!arrival.is_write && arrival.length > 0 && !receive.keys_ok) {
    complete(slot, arrival, Status::kLocalProtection);
    return Verdict::kCannotOperate;
  }
  if (too_long) {
    complete(slot, arrival, Status::kLocalLength);
    return Verdict::kInvalid;
  }
  complete(slot, arrival, Status::kSuccess);
  return Verdict::kTaken;
}

// Receives for what waits for them. What has arrived already are messages without bytes, and
// immediates of writes: they fit.
void Responder::match() {
  while (has_too_few() && !receives_.empty()) {
    slots_.push(receives_.take());
    ++bound_;
  }
  while (!unmatched_.empty() && completed_ < bound_) (void)finish(unmatched_.pop());
}

void Responder::complete(ReceiveQueue::Slot slot, const Arrival& arrival, Status status) {
  link_.completions.push(
      {.id = receives_[slot].id,
       .qpn = link_.qpn,
       .kind = arrival.is_write ? CompletionKind::kReceivedWrite : CompletionKind::kReceived,
       .status = status,
       .length = static_cast<std::uint32_t>(arrival.length),
       .immediate = arrival.has_immediate && status == Status::kSuccess
                        ? std::optional(arrival.immediate)
                        : std::nullopt,
       .solicited = arrival.solicited || status != Status::kSuccess});
  receives_.give_back(slot);
}

// ---- READ and atomic operations ----

Responder::Verdict Responder::on_request_part(const Name& name, const Part& part) {
  const std::int64_t number = UnwrappedSequence(executed_).nearest(name.sequence).raw();
  if (number < executed_ || number >= executed_ + kDepthMax || !part.payload.has_bytes() ||
      part.message_length != RemoteRequest::kSize ||
      std::uint64_t{name.offset} + part.payload.size() > RemoteRequest::kSize) {
    return Verdict::kInvalid;
  }
  auto& into = requests_[static_cast<std::size_t>(number) % kDepthMax];
  const ConstBytes bytes = part.payload.bytes();
  std::copy(bytes.begin(), bytes.end(), into.begin() + name.offset);
  return Verdict::kTaken;
}

// MSG-33: in the order in which they were asked for, after everything that was sent before.
Responder::Verdict Responder::on_request(const Name& name, const Delivery& delivery) {
  if (name.sequence != Sequence{} + executed_ || name.offset != 0 ||
      delivery.length != RemoteRequest::kSize) {
    return Verdict::kInvalid;
  }
  if (attributes_.depth == 0 || responses_.size() >= kResponsesMax) return Verdict::kInvalid;
  const RemoteRequest request =
      RemoteRequest::read(requests_[static_cast<std::size_t>(executed_) % kDepthMax]);
  const bool is_read = request.operation == RemoteRequest::Operation::kRead;
  if (is_read != (name.kind == Kind::kReadRequest)) return Verdict::kInvalid;
  const Verdict verdict = execute(request);
  if (verdict == Verdict::kTaken) ++executed_;
  return verdict;
}

Responder::Verdict Responder::execute(const RemoteRequest& request) {
  switch (request.operation) {
    case RemoteRequest::Operation::kRead: return read_for(request);
    case RemoteRequest::Operation::kCompareAndSwap:
    case RemoteRequest::Operation::kFetchAndAdd: return change_for(request);
  }
  return Verdict::kInvalid;
}

// MSG-37
Responder::Verdict Responder::read_for(const RemoteRequest& request) {
  if (!access_.remote_read) return Verdict::kNoAccess;
  if (request.length > kMessageMax) return Verdict::kInvalid;
  Response response{.kind = Kind::kReadResponse, .number = executed_, .length = request.length};
  if (request.length > 0) {
    const auto found = link_.endpoint.memory().find_readable({.key = RKey(request.key),
                                                              .domain = domain_,
                                                              .address = request.address,
                                                              .length = request.length});
    if (!found) return Verdict::kNoAccess;
    response.data = *found;
    response.key = RKey(request.key);
  }
  responses_.push(response);
  return Verdict::kTaken;
}

// MSG-38: an atomic operation of the processor, on 8 aligned bytes in its own order.
Responder::Verdict Responder::change_for(const RemoteRequest& request) {
  if (!access_.remote_atomic) return Verdict::kNoAccess;
  if (request.address % sizeof(std::uint64_t) != 0) return Verdict::kInvalid;
  const auto found = link_.endpoint.memory().find_atomic({.key = RKey(request.key),
                                                          .domain = domain_,
                                                          .address = request.address,
                                                          .length = sizeof(std::uint64_t)});
  if (!found) return Verdict::kNoAccess;
  std::uint64_t& result = results_[static_cast<std::size_t>(executed_) % kDepthMax];
  result = 0;
  if (*found != nullptr) {
    if (std::bit_cast<std::uintptr_t>(*found) % sizeof(std::uint64_t) != 0)
      return Verdict::kInvalid;
    auto* const value = reinterpret_cast<std::uint64_t*>(*found);
    if (request.operation == RemoteRequest::Operation::kFetchAndAdd) {
      result = __atomic_fetch_add(value, request.operand, __ATOMIC_SEQ_CST);
    } else {
      result = request.operand;
      (void)__atomic_compare_exchange_n(value, &result, request.swap, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST);
    }
  }
  responses_.push({.kind = Kind::kAtomicResponse,
                   .number = executed_,
                   .data = reinterpret_cast<const std::byte*>(&result),
                   .length = sizeof result});
  return Verdict::kTaken;
}

void Responder::on_responded() {
  (void)responses_.pop();
  --responded_;
}

bool Responder::reads_from(RKey key) const {
  for (std::size_t i = 0; i < responses_.size(); ++i) {
    if (responses_[i].data != nullptr && responses_[i].kind == Kind::kReadResponse &&
        responses_[i].key == key) {
      return true;
    }
  }
  return false;
}

// MSG-35: the bytes go as they are in memory when they leave.
bool Responder::send_responses(Instant now) {
  while (responded_ < responses_.size()) {
    const Response& response = responses_[responded_];
    const Name name{.kind = response.kind, .sequence = Sequence{} + response.number};
    const Posted posted =
        post_to_core(link_, now,
                     {.id = CoreWork{CoreWork::Purpose::kResponse, response.number}.id(),
                      .data = response.data == nullptr
                                  ? wire::Payload::of_length(response.length)
                                  : wire::Payload::of_bytes({response.data, response.length}),
                      .remote_address = name.address(),
                      .rkey = core::kMessageKey,
                      .immediate = wire::Immediate{}});
    if (posted == Posted::kBroken) return false;
    if (posted == Posted::kLater) return true;
    ++responded_;
  }
  return true;
}

// ---- credit ----

// MSG-24
Responder::Verdict Responder::on_ask(const Part& part) {
  if (part.payload.size() != Ask::kSize || part.message_length != Ask::kSize ||
      !part.payload.has_bytes()) {
    return Verdict::kInvalid;
  }
  const Ask ask = Ask::read(part.payload.bytes().first<Ask::kSize>());
  echo_ = ask.echo;
  asked_with_ = ask.psn;
  credit_wanted_ = true;
  return Verdict::kTaken;
}

// MSG-21, MSG-22: of a queue of its own all; of a shared one what everybody could have.
std::int64_t Responder::limit() const {
  const auto waiting = static_cast<std::int64_t>(receives_.size());
  if (sharers_ == nullptr) return bound_ + waiting;
  if (waiting == 0) return std::max(bound_, advertised_);
  const std::int64_t share =
      waiting / static_cast<std::int64_t>(std::max<std::size_t>(*sharers_, 1));
  return std::max(advertised_, std::max(bound_, arrived_) +
                                   std::clamp<std::int64_t>(share, 1, kSharedCreditMax));
}

// Without it the peer cannot go on.
bool Responder::credit_is_needed() const {
  if (credit_wanted_ || (has_too_few() && !told_too_few_)) return true;
  return advertised_ <= arrived_ && limit() > advertised_;
}

bool Responder::credit_is_due() const {
  const std::int64_t now = limit();
  return now > advertised_ && 2 * (now - advertised_) >= now - arrived_;
}

bool Responder::send_credit(Instant now) {
  const bool is_needed = credit_is_needed();
  if (!is_needed && !credit_is_due()) return true;
  if (credits_in_flight_ >= (is_needed ? kNeededCreditsMax : kCreditsInFlightMax)) return true;
  const std::int64_t next = limit();
  const Posted posted = post_to_core(link_, now,
                                     {.id = CoreWork{CoreWork::Purpose::kCredit, 0}.id(),
                                      .data = wire::Payload::of_bytes(credit_bytes_),
                                      .remote_address = Name{.kind = Kind::kCredit}.address(),
                                      .rkey = core::kMessageKey});
  if (posted == Posted::kBroken) return false;
  if (posted == Posted::kLater) return true;
  // Written only now: a CREDIT in flight that is retransmitted has these bytes too, and must not
  // say more than what was advertised.
  Credit{.limit = Sequence{} + next,
         .lacking = has_too_few(),
         .echo = echo_,
         .rnr = attributes_.rnr_timer,
         .depth = attributes_.depth}
      .write(credit_bytes_);
  advertised_ = next;
  credit_wanted_ = false;
  told_too_few_ = has_too_few();
  ++credits_in_flight_;
  return true;
}

bool Responder::progress(Instant now) {
  match();
  if (!has_too_few()) told_too_few_ = false;
  return send_responses(now) && send_credit(now);
}

// ---- the end ----

// MSG-43, MSG-44
void Responder::flush() {
  while (!slots_.empty()) complete(slots_.pop(), {}, Status::kFlushed);
  while (sharers_ == nullptr && !receives_.empty())
    complete(receives_.take(), {}, Status::kFlushed);
  while (!unmatched_.empty()) (void)unmatched_.pop();
  while (!responses_.empty()) (void)responses_.pop();
  responded_ = 0;
}

void Responder::forget() {
  asked_with_.reset();
  while (!slots_.empty()) receives_.give_back(slots_.pop());
  while (sharers_ == nullptr && !receives_.empty()) receives_.give_back(receives_.take());
  while (!unmatched_.empty()) (void)unmatched_.pop();
  while (!responses_.empty()) (void)responses_.pop();
  responded_ = 0;
  completed_ = arrived_ = bound_ = wanted_ = advertised_ = executed_ = 0;
  credit_wanted_ = told_too_few_ = false;
  credits_in_flight_ = 0;
  echo_ = 0;
}

}  // namespace openmrc::messages
