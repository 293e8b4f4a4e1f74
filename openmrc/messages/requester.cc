// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/messages/requester.h"

#include <algorithm>

#include "openmrc/messages/scatter.h"

namespace openmrc::messages {
namespace {

constexpr std::uint32_t kAtomicSize = sizeof(std::uint64_t);

bool is_request(Opcode opcode) {
  return opcode == Opcode::kRead || opcode == Opcode::kCompareAndSwap ||
         opcode == Opcode::kFetchAndAdd;
}
bool is_atomic(Opcode opcode) { return is_request(opcode) && opcode != Opcode::kRead; }
bool is_send(Opcode opcode) {
  return opcode == Opcode::kSend || opcode == Opcode::kSendWithImmediate;
}
bool takes_receive(Opcode opcode) {
  return is_send(opcode) || opcode == Opcode::kWriteWithImmediate;
}

RemoteRequest::Operation operation_of(Opcode opcode) {
  if (opcode == Opcode::kCompareAndSwap) return RemoteRequest::Operation::kCompareAndSwap;
  if (opcode == Opcode::kFetchAndAdd) return RemoteRequest::Operation::kFetchAndAdd;
  return RemoteRequest::Operation::kRead;
}

Status status_of(core::WorkStatus status) {
  switch (status) {
    case core::WorkStatus::kSuccess: return Status::kSuccess;
    case core::WorkStatus::kFlushed: return Status::kFlushed;
    case core::WorkStatus::kRetryExceeded: return Status::kRetryExceeded;
    case core::WorkStatus::kRemoteAccess: return Status::kRemoteAccess;
    case core::WorkStatus::kRemoteInvalidRequest: return Status::kRemoteInvalidRequest;
    case core::WorkStatus::kRemoteOperation: return Status::kRemoteOperation;
  }
  return Status::kFlushed;
}

}  // namespace

Requester::Requester(const Link& link, const QueuePairOptions& options)
    : link_(link),
      segments_each_(std::max<std::size_t>(options.sends.segments, 1)),
      copied_max_(options.copied_max),
      works_(std::max<std::size_t>(options.sends.requests, 1)),
      segments_(works_.size() * segments_each_) {}

void Requester::connect(const RequesterAttributes& attributes) {
  attributes_ = attributes;
  attributes_.depth = std::min(attributes.depth, kDepthMax);
}

Result<void, PostError> Requester::post(const SendRequest& request) {
  if (posted_ - first_ >= static_cast<std::int64_t>(works_.size())) {
    return failure(PostError::kFull);
  }
  if (request.segments.size() > segments_each_) return failure(PostError::kSegments);
  const std::uint64_t length = size_of(request.segments);
  if (request.copied && length > copied_max_) return failure(PostError::kTooLong);
  Work& made = work(posted_);
  std::vector<std::byte> memory = std::move(made.copy);
  made = {.id = request.id,
          .opcode = request.opcode,
          .segments = static_cast<std::uint32_t>(request.segments.size()),
          .length = is_atomic(request.opcode) ? kAtomicSize : length,
          .remote_address = request.remote_address,
          .rkey = request.rkey,
          .immediate = request.immediate,
          .signaled = request.signaled,
          .fenced = request.fenced,
          .solicited = request.solicited,
          .keys_ok = request.keys_ok,
          .answered = !is_request(request.opcode)};
  made.copy = std::move(memory);
  std::copy(request.segments.begin(), request.segments.end(), segments(posted_).begin());
  if (is_request(request.opcode)) {
    made.request = {
        .address = request.remote_address,
        .key = request.rkey.raw(),
        .length = static_cast<std::uint32_t>(std::min<std::uint64_t>(made.length, kMessageMax)),
        .operation = operation_of(request.opcode),
        .operand = request.operand,
        .swap = request.swap};
    if (is_atomic(request.opcode) && length < kAtomicSize) made.status = Status::kLocalLength;
  } else if (request.keys_ok &&
             (request.copied || (request.segments.size() > 1 && length <= kGatherMax))) {
    gather(made, request.segments);
  }
  ++posted_;
  return {};
}

void Requester::gather(Work& into, std::span<const Segment> from) {
  into.copy.clear();
  for (const Segment& segment : from) {
    into.copy.insert(into.copy.end(), segment.data, segment.data + segment.length);
  }
  into.is_copied = true;
}

// ---- beginning ----

// What is wrong with a request without asking the peer (MSG-41).
std::optional<Status> Requester::local_fault(const Work& work) const {
  if (work.status != Status::kSuccess) return work.status;
  if (!work.keys_ok) return Status::kLocalProtection;
  if (work.length > kMessageMax) return Status::kLocalLength;
  if (is_request(work.opcode) && attributes_.depth == 0) return Status::kLocalOperation;
  if (!is_send(work.opcode) && work.remote_address + work.length < work.remote_address) {
    return Status::kRemoteAccess;
  }
  return std::nullopt;
}

// MSG-12, MSG-30, MSG-34: in order, and each only if the peer can take it.
bool Requester::may_begin(const Work& work) const {
  const bool any_asked = asked_ > answered_;
  if (work.fenced && any_asked) return false;
  if (takes_receive(work.opcode)) return next_sequence_ < limit_;
  if (!is_request(work.opcode)) return true;
  // A peer that takes none refuses the first.
  const int depth = std::max(1, int{std::min(attributes_.depth, peer_depth_)});
  return peer_is_known_ && asked_ - answered_ < depth;
}

bool Requester::progress(Instant now) {
  retire();
  while (next_ < posted_) {
    Work& next = work(next_);
    if (!next.begun) {
      if (const auto fault = local_fault(next)) {
        if (next_ != first_) return true;  // what is before it ends as it should
        next.status = *fault;
        return false;
      }
      if (!may_begin(next)) {
        if (takes_receive(next.opcode) && next_sequence_ >= limit_) return wait_for_receives(now);
        return true;
      }
    }
    const Posted posted = begin(next_, now);
    if (posted == Posted::kBroken) return false;
    if (posted == Posted::kLater) return true;
    ++next_;
    ask_at_ = core::kNever;
    rnr_answers_ = 0;
    rnr_exceeded_ = false;
    gives_up_at_.reset();
  }
  return true;
}

void Requester::number_it(Work& work) {
  work.begun = true;
  if (takes_receive(work.opcode)) work.sequence = Sequence{} + next_sequence_++;
  if (!is_request(work.opcode)) return;
  work.sequence = Sequence{} + asked_;
  asking_[static_cast<std::size_t>(asked_) % kDepthMax] = next_;
  ++asked_;
}

Posted Requester::begin(std::int64_t number, Instant now) {
  Work& begun = work(number);
  if (!begun.begun) number_it(begun);
  return is_request(begun.opcode) ? post_request(number, now) : post_data(number, now);
}

// MSG-32
Posted Requester::post_request(std::int64_t number, Instant now) {
  Work& asking = work(number);
  asking.request.write(asking.request_bytes);
  const Name name{
      .kind = asking.opcode == Opcode::kRead ? Kind::kReadRequest : Kind::kAtomicRequest,
      .sequence = asking.sequence};
  const Posted posted = post_to_core(link_, now,
                                     {.id = CoreWork{CoreWork::Purpose::kUser, number}.id(),
                                      .data = wire::Payload::of_bytes(asking.request_bytes),
                                      .remote_address = name.address(),
                                      .rkey = core::kMessageKey,
                                      .immediate = wire::Immediate{}});
  if (posted == Posted::kYes) ++asking.writes;
  return posted;
}

// MSG-8: pieces that are too long to be gathered are writes of their own.
Posted Requester::post_data(std::int64_t number, Instant now) {
  Work& sending = work(number);
  const std::span<const Segment> pieces = used_segments(number);
  if (sending.is_copied || sending.length == 0) {
    return post_piece(number, now, ConstBytes(sending.copy).first(sending.length), true);
  }
  while (sending.posted_bytes < sending.length) {
    const Segment& piece = pieces[sending.next_segment];
    if (piece.length > 0) {
      const bool last = sending.posted_bytes + std::uint64_t{piece.length} == sending.length;
      const Posted posted = post_piece(number, now, {piece.data, piece.length}, last);
      if (posted != Posted::kYes) return posted;
      sending.posted_bytes += piece.length;
    }
    ++sending.next_segment;
  }
  return Posted::kYes;
}

// MSG-7, MSG-11, MSG-14
Posted Requester::post_piece(std::int64_t number, Instant now, ConstBytes piece, bool last) {
  Work& sending = work(number);
  core::WriteRequest write{.id = CoreWork{CoreWork::Purpose::kUser, number}.id(),
                           .data = wire::Payload::of_bytes(piece)};
  if (is_send(sending.opcode)) {
    write.rkey = core::kMessageKey;
    write.remote_address = Name{.kind = Kind::kSend,
                                .has_immediate = sending.opcode == Opcode::kSendWithImmediate,
                                .solicited = sending.solicited,
                                .sequence = sending.sequence,
                                .offset = sending.posted_bytes}
                               .address();
  } else if (sending.length > 0) {  // of no bytes, key and address do not matter
    write.rkey = sending.rkey;
    write.remote_address = sending.remote_address + sending.posted_bytes;
  }
  if (last && takes_receive(sending.opcode)) write.immediate = sending.immediate;
  const Posted posted = post_to_core(link_, now, write);
  if (posted == Posted::kYes) ++sending.writes;
  return posted;
}

// ---- receiver not ready ----

// MSG-24, MSG-25: the peer has no receive. It says so when it has; until then it is asked at times.
bool Requester::wait_for_receives(Instant now) {
  if (rnr_exceeded_) return give_up_later(now);
  const bool for_ever = attributes_.rnr_retry >= kRnrRetryForEver;
  if (ask_at_ == core::kNever) {
    const Duration wait = duration_of(rnr_timer_);
    ask_at_ = now + (for_ever ? std::max(wait, kAskEvery) : wait);
  } else if (now >= ask_at_) {
    ask_at_ = core::kNever;
    ask(now);
    return wait_for_receives(now);
  }
  return true;
}

bool Requester::give_up_later(Instant now) {
  if (!gives_up_at_) gives_up_at_ = now + kGiveUpAfter;
  ask_at_ = *gives_up_at_;
  if (now < ask_at_) return true;
  work(next_).status = Status::kRnrRetryExceeded;
  return progress(now);
}

void Requester::ask(Instant now) {
  if (ask_in_flight_ || !peer_is_known_) return;
  Ask{.echo = ++ask_}.write(ask_bytes_);
  const Posted posted = post_to_core(link_, now,
                                     {.id = CoreWork{CoreWork::Purpose::kAsk, ask_}.id(),
                                      .data = wire::Payload::of_bytes(ask_bytes_),
                                      .remote_address = Name{.kind = Kind::kAsk}.address(),
                                      .rkey = core::kMessageKey});
  ask_in_flight_ = posted == Posted::kYes;
  ask_answered_ = !ask_in_flight_;
}

// MSG-20, MSG-21: they may overtake each other; the highest limit is the newest.
Requester::Verdict Requester::on_credit(const core::MessageHandler::Part& part) {
  if (part.payload.size() != Credit::kSize || part.message_length != Credit::kSize ||
      !part.payload.has_bytes()) {
    return Verdict::kInvalid;
  }
  const Credit credit = Credit::read(part.payload.bytes().first<Credit::kSize>());
  limit_ = std::max(limit_, UnwrappedSequence(next_sequence_).nearest(credit.limit).raw());
  peer_depth_ = credit.depth;
  rnr_timer_ = std::min(credit.rnr, kRnrTimerMax);
  peer_is_known_ = true;
  if (ask_answered_ || credit.echo != ask_) return Verdict::kTaken;
  ask_answered_ = true;
  if (next_sequence_ < limit_) return Verdict::kTaken;
  // MSG-25: it was as if the message had been sent and refused.
  ++rnr_answers_;
  rnr_exceeded_ = attributes_.rnr_retry < kRnrRetryForEver && rnr_answers_ > attributes_.rnr_retry;
  return Verdict::kTaken;
}

// ---- responses ----

std::optional<std::int64_t> Requester::waiting_for(const Name& name) {
  const std::int64_t number = UnwrappedSequence(answered_).nearest(name.sequence).raw();
  if (number < answered_ || number >= asked_) return std::nullopt;
  const std::int64_t asking = asking_[static_cast<std::size_t>(number) % kDepthMax];
  const bool wants_read = work(asking).opcode == Opcode::kRead;
  return wants_read == (name.kind == Kind::kReadResponse) ? std::optional(asking) : std::nullopt;
}

// MSG-35
Requester::Verdict Requester::on_response_part(const Name& name,
                                               const core::MessageHandler::Part& part) {
  const auto number = waiting_for(name);
  if (!number) return Verdict::kInvalid;
  const Work& asking = work(*number);
  if (part.message_length != asking.length ||
      std::uint64_t{name.offset} + part.payload.size() > asking.length) {
    return Verdict::kInvalid;
  }
  if (part.payload.has_bytes()) scatter(used_segments(*number), name.offset, part.payload.bytes());
  return Verdict::kTaken;
}

// MSG-36
Requester::Verdict Requester::on_response(const Name& name,
                                          const core::MessageHandler::Delivery& delivery) {
  const auto number = waiting_for(name);
  if (!number || name.sequence != Sequence{} + answered_ || name.offset != 0) {
    return Verdict::kInvalid;
  }
  Work& asking = work(*number);
  if (delivery.length != asking.length) return Verdict::kInvalid;
  asking.answered = true;
  ++answered_;
  return Verdict::kTaken;
}

// ---- completing ----

void Requester::on_written(std::int64_t number, core::WorkStatus status) {
  if (number < first_ || number >= posted_) return;
  Work& written = work(number);
  ++written.written;
  // Of several pieces one is to blame.
  const bool is_news = written.status == Status::kSuccess || written.status == Status::kFlushed;
  if (status != core::WorkStatus::kSuccess && is_news) written.status = status_of(status);
}

// MSG-40: in the order in which they were posted.
void Requester::retire() {
  while (first_ < next_) {
    Work& oldest = work(first_);
    if (oldest.status != Status::kSuccess || oldest.written < oldest.writes || !oldest.answered) {
      return;
    }
    complete(oldest, Status::kSuccess);
    ++first_;
  }
}

void Requester::complete(Work& work, Status status) {
  if (status == Status::kSuccess && !work.signaled) return;
  link_.completions.push({.id = work.id,
                          .qpn = link_.qpn,
                          .kind = CompletionKind::kSent,
                          .opcode = work.opcode,
                          .status = status,
                          .length = static_cast<std::uint32_t>(work.length),
                          .immediate = std::nullopt,
                          .solicited = status != Status::kSuccess});
}

// MSG-43
void Requester::flush(std::optional<Status> unattributed) {
  retire();
  bool blamed = !unattributed.has_value();
  for (std::int64_t at = first_; at < posted_ && !blamed; ++at) {
    const Status status = work(at).status;
    blamed = status != Status::kSuccess && status != Status::kFlushed;
  }
  for (; first_ < posted_; ++first_) {
    Work& left = work(first_);
    const bool has_own = left.status != Status::kSuccess;
    Status status = has_own ? left.status : Status::kFlushed;
    if (!blamed) status = *unattributed;
    blamed = true;
    complete(left, status);
  }
  next_ = posted_;
  ask_at_ = core::kNever;
}

void Requester::forget() {
  first_ = next_ = posted_;
  next_sequence_ = limit_ = asked_ = answered_ = 0;
  peer_depth_ = 0;
  peer_is_known_ = false;
  rnr_answers_ = 0;
  ask_answered_ = true;
  ask_in_flight_ = rnr_exceeded_ = false;
  gives_up_at_.reset();
  ask_at_ = core::kNever;
}

}  // namespace openmrc::messages
