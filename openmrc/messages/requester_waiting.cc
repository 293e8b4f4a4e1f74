// SPDX-License-Identifier: BSD-3-Clause
// How a requester waits for its peer: receives that are not there, answers that do not come.
#include <algorithm>
#include <utility>

#include "openmrc/messages/opcodes.h"
#include "openmrc/messages/requester.h"

namespace openmrc::messages {

std::optional<std::int64_t> Requester::first_that_takes_receive() {
  for (std::int64_t at = first_; at < next_; ++at) {
    if (takes_receive(work(at).opcode) && work(at).written < work(at).writes) return at;
  }
  return std::nullopt;
}

void Requester::stop_waiting() {
  ask_at_ = core::kNever;
  waits_for_receive_ = false;
  rnr_answers_ = 0;
  rnr_exceeded_ = false;
  gives_up_at_.reset();
}

// MSG-24, MSG-25, MSG-26: whoever waits for what only the peer's layer can say asks at times.
bool Requester::wait(Instant now) {
  const bool for_ever = attributes_.rnr_retry >= kRnrRetryForEver;
  // What was sent is retransmitted, so that a dead peer is noticed; with patience that is all.
  // While another is on its way to the peer, nobody knows what there will be for the next.
  const bool is_alone = next_sequence_ == retired_sequence_;
  const bool for_receive = (next_has_none_ && is_alone) || (sent_has_none_ && !for_ever);
  const bool for_answer =
      next_has_none_ || asked_ > answered_ || (next_ < posted_ && !peer_is_known_);
  if (!for_receive && !for_answer) {
    stop_waiting();
    return true;
  }
  if (std::exchange(waits_for_receive_, for_receive) != for_receive) ask_at_ = core::kNever;
  if (rnr_exceeded_ && for_receive) return give_up(now);
  // MSG-27: it may be in RTR, and answers who asks.
  if (!peer_is_known_ && ask_ == 0) ask_at_ = now;
  if (now >= ask_at_) {
    ask(now, for_receive);
    ask_at_ = core::kNever;
  }
  const bool counts = for_receive && peer_is_known_;
  const Duration wait = duration_of(rnr_timer_);
  Duration until = kAskEvery;
  if (counts) until = for_ever ? std::max(wait, kAskEvery) : wait;
  ask_at_ = std::min(ask_at_, now + until);
  return true;
}

// The request that found no receive fails when all before it are complete.
bool Requester::give_up(Instant now) {
  if (!gives_up_at_) gives_up_at_ = now + kGiveUpAfter;
  if (now < *gives_up_at_) {
    ask_at_ = *gives_up_at_;
    return true;
  }
  const std::int64_t failed = sent_has_none_ ? *first_that_takes_receive() : next_;
  if (failed == first_) {
    work(failed).status = Status::kRnrRetryExceeded;
    return false;
  }
  if (now >= ask_at_) {
    ask(now, false);
    ask_at_ = now + kAskEvery;
  }
  return true;
}

void Requester::ask(Instant now, bool for_receive) {
  // The answer to the last one may be on its way; if it does not come, the peer may be gone. It is
  // acknowledged only after what was sent before it, which may wait for a receive.
  const bool may_be_more = ask_answered_ && for_receive && asks_in_flight_ < kAsksInFlightMax &&
                           attributes_.rnr_retry < kRnrRetryForEver;
  if (asks_in_flight_ > 0 && !may_be_more) return;
  if (!ask_answered_ && peer_is_known_ && now < asked_at_ + kAskEvery) return;
  const Posted posted = post_to_core(link_, now,
                                     {.id = CoreWork{CoreWork::Purpose::kAsk, ask_ + 1}.id(),
                                      .data = wire::Payload::of_bytes(ask_bytes_),
                                      .remote_address = Name{.kind = Kind::kAsk}.address(),
                                      .rkey = core::kMessageKey});
  if (posted != Posted::kYes) return;
  // Written only now: one in flight that is retransmitted has these bytes too.
  Ask{.echo = ++ask_, .psn = link_.peer_first_psn}.write(ask_bytes_);
  ++asks_in_flight_;
  ask_answered_ = false;
  asked_at_ = now;
  ask_counts_ = for_receive && peer_is_known_;
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
  // MSG-29: one that overtook a newer one is put right by the next answer.
  if (credit.lacking) sent_has_none_ = true;
  if (ask_answered_ || credit.echo != ask_) return Verdict::kTaken;
  ask_answered_ = true;
  if (!credit.lacking && std::exchange(sent_has_none_, false)) {
    stop_waiting();
    return Verdict::kTaken;
  }
  // MSG-25: it was as if the message had been sent and refused.
  const bool has_none = sent_has_none_ || (next_has_none_ && next_sequence_ >= limit_);
  if (!ask_counts_ || !has_none) return Verdict::kTaken;
  ++rnr_answers_;
  rnr_exceeded_ = attributes_.rnr_retry < kRnrRetryForEver && rnr_answers_ > attributes_.rnr_retry;
  return Verdict::kTaken;
}

}  // namespace openmrc::messages
