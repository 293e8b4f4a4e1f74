// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/messages/requester.h"

#include <algorithm>

#include "openmrc/messages/opcodes.h"
#include "openmrc/messages/scatter.h"

namespace openmrc::messages {
namespace {

constexpr std::uint32_t kAtomicSize = sizeof(std::uint64_t);

RemoteRequest::Operation operation_of(Opcode opcode) {
  if (opcode == Opcode::kCompareAndSwap) return RemoteRequest::Operation::kCompareAndSwap;
  if (opcode == Opcode::kFetchAndAdd) return RemoteRequest::Operation::kFetchAndAdd;
  return RemoteRequest::Operation::kRead;
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
  if (room() == 0) return failure(PostError::kFull);
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
  const bool is_reserved = work.rkey == core::kMessageKey && work.length > 0;
  const bool wraps = work.remote_address + work.length < work.remote_address;
  if (!is_send(work.opcode) && (wraps || is_reserved)) {
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
  next_has_none_ = false;
  if (!begin_all(now)) return false;
  if (sent_has_none_ && !first_that_takes_receive()) sent_has_none_ = false;
  return wait(now);
}

bool Requester::begin_all(Instant now) {
  while (next_ < posted_) {
    Work& next = work(next_);
    if (!next.begun) {
      if (const auto fault = local_fault(next)) {
        if (next_ != first_) return true;  // what is before it ends as it should
        next.status = *fault;
        return false;
      }
      if (!may_begin(next)) {
        next_has_none_ = takes_receive(next.opcode) && next_sequence_ >= limit_;
        return true;
      }
    }
    const Posted posted = begin(next_, now);
    if (posted == Posted::kBroken) return false;
    if (posted == Posted::kLater) return true;
    ++next_;
    if (!sent_has_none_) stop_waiting();
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

// MSG-18: an immediate of MRC's own says neither that it is solicited, nor how long the pieces
// before it were.
bool Requester::has_notice(const Work& work) {
  const bool has_pieces = !work.is_copied && work.segments > 1 && work.length > 0;
  return work.opcode == Opcode::kWriteWithImmediate && (work.solicited || has_pieces);
}

// MSG-8: pieces that are too long to be gathered are writes of their own.
Posted Requester::post_data(std::int64_t number, Instant now) {
  Work& sending = work(number);
  const std::span<const Segment> pieces = used_segments(number);
  if (has_notice(sending)) {
    if (sending.notice_posted) return Posted::kYes;
  } else if (sending.length == 0) {
    return post_piece(number, now, {}, true);
  }
  if (sending.is_copied && sending.posted_bytes < sending.length) {
    const auto length = static_cast<std::uint32_t>(sending.length);
    const Posted posted =
        post_piece(number, now, ConstBytes(sending.copy).first(length), !has_notice(sending));
    if (posted != Posted::kYes) return posted;
    sending.posted_bytes = length;
  }
  while (sending.posted_bytes < sending.length) {
    const Segment& piece = pieces[sending.next_segment];
    if (piece.length > 0) {
      const bool last = sending.posted_bytes + std::uint64_t{piece.length} == sending.length &&
                        !has_notice(sending);
      const Posted posted = post_piece(number, now, {piece.data, piece.length}, last);
      if (posted != Posted::kYes) return posted;
      sending.posted_bytes += piece.length;
    }
    ++sending.next_segment;
  }
  return has_notice(sending) ? post_notice(number, now) : Posted::kYes;
}

Posted Requester::post_notice(std::int64_t number, Instant now) {
  Work& sending = work(number);
  const Name name{.kind = Kind::kWriteNotice,
                  .solicited = sending.solicited,
                  .sequence = sending.sequence,
                  .offset = sending.posted_bytes};
  const Posted posted = post_to_core(link_, now,
                                     {.id = CoreWork{CoreWork::Purpose::kUser, number}.id(),
                                      .data = wire::Payload::of_bytes({}),
                                      .remote_address = name.address(),
                                      .rkey = core::kMessageKey,
                                      .immediate = sending.immediate});
  if (posted != Posted::kYes) return posted;
  ++sending.writes;
  sending.notice_posted = true;
  return posted;
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
    if (takes_receive(oldest.opcode)) ++retired_sequence_;
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
  next_sequence_ = retired_sequence_ = limit_ = asked_ = answered_ = 0;
  peer_depth_ = 0;
  peer_is_known_ = false;
  ask_ = 0;
  ask_answered_ = true;
  asks_in_flight_ = 0;
  next_has_none_ = sent_has_none_ = false;
  stop_waiting();
}

}  // namespace openmrc::messages
