// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/responder/responder.h"

#include <algorithm>

#include "openmrc/core/memory/placement.h"
#include "openmrc/wire/field/connection_id.h"

namespace openmrc::core {
namespace {

std::uint16_t ticks_of(const std::optional<wire::TxTimestamp>& sent) {
  return sent ? sent->ticks : std::uint16_t{0};
}

// MRC 9.3.1 (PATH-65, REL-24): what to say of the path that a packet took.
wire::PathMark mark_of(const ArrivalInfo& arrival) {
  if (arrival.path_unwelcome) return wire::PathMark::kAlwaysSkip;
  return arrival.marked ? wire::PathMark::kSkipOnce : wire::PathMark::kNone;
}

wire::AckSyndrome syndrome_of(MessageHandler::Verdict verdict) {
  switch (verdict) {
    case MessageHandler::Verdict::kNoAccess: return wire::AckSyndrome::kNakRemoteAccess;
    case MessageHandler::Verdict::kCannotOperate: return wire::AckSyndrome::kNakRemoteOperation;
    case MessageHandler::Verdict::kTaken:
    case MessageHandler::Verdict::kNotNow:
    case MessageHandler::Verdict::kInvalid: break;
  }
  return wire::AckSyndrome::kNakInvalidRequest;
}

// The field has 15 bits and stays at the top.
constexpr std::int64_t kOooCountMax = 0x7fff;

}  // namespace

void Responder::connect(const ReadyToRecvAttributes& attributes) {
  const PoolList posted = receives_;
  *this = Responder();
  receives_ = posted;
  window_ = ArrivalWindow(attributes.mpr_dest, UnwrappedPsn(attributes.remote_psn.raw()));
  if (attributes.places_in_order) order_ = std::make_unique<PlacementOrder>(window_.range());
  immediates_max_ = attributes.max_wimm_dest;
  mpr_ = attributes.mpr_dest;
}

void Responder::post_receive(Context& context, PoolIndex receive) {
  receives_.push_back(context.receives, receive);
}

// MRC 7.5.2: the triggers of a SACK: bytes since the last one, a request, a mark, a retransmission.
// (The fifth is a probe.) A duplicate is answered too: its sender missed what we said.
// REL-15, REL-16, REL-17, REL-18, REL-20
[[gnu::always_inline]] inline void Responder::report(const Turn& turn, const wire::RdmaWrite& write,
                                                     UnwrappedPsn psn, const ArrivalInfo& arrival,
                                                     bool duplicate) {
  const SackSettings& settings = turn.context.settings.sack;
  if (!duplicate) {
    unreported_bytes_ += std::max(write.payload.size(), settings.packet_bytes_min);
  }
  const bool due = unreported_bytes_ >= settings.threshold_bytes;
  if (due || write.ack_request || arrival.marked || write.retransmission || duplicate ||
      arrival.path_unwelcome) {
    if (arrival.marked) turn.context.counters.add(Count::kEcnMarkedReceived);
    turn.context.fair_share.on_received(turn.peer.received, unreported_bytes_, turn.now,
                                        turn.peer.congestion.base_rtt() * FairShare::kEpochInRtts);
    // REL-21
    unreported_bytes_ = 0;
    queue_sack(turn, psn, arrival, ticks_of(write.sent), write.retransmission);
  }
}

// MRC 6.3 (REL-9): checks and places one packet, and completes what that completes.
[[gnu::always_inline]] inline std::optional<Responder::Refusal> Responder::place(
    const Turn& turn, const wire::RdmaWrite& write, UnwrappedPsn psn) {
  Context& context = turn.context;
  // The packet that ends a message also says how long all of it was, and a completion repeats that
  // to the application: all of it must lie where the peer may write (QP-33).
  const std::uint64_t before =
      write.part.ends_message() ? write.reth.dma_length - write.payload.size() : 0;
  const auto target =
      write.reth.dma_length == 0
          ? Result<std::byte*, AccessError>(nullptr)  // nothing is accessed (WIRE-50)
          : context.memory.find_writable({.key = write.reth.rkey,
                                          .domain = turn.connection.domain,
                                          .address = write.reth.virtual_address - before,
                                          .length = write.payload.size() + before});
  if (!target) [[unlikely]] {
    if (auto refusal = place_elsewhere(turn, write, psn)) return refusal;
  }
  const bool waits = must_wait(write, psn) && target && *target != nullptr;
  if (waits && !PlacementOrder::has_room(turn)) [[unlikely]] {
    context.counters.add(Count::kPacketsNotHeld);
    return Refusal{
        .syndrome = wire::AckSyndrome::kNakInvalidRequest, .psn = psn.wrapped(), .not_now = true};
  }
  const bool has_immediate = write.part.has_immediate();
  if (has_immediate) {
    if (auto refusal = keep_immediate(turn, write, psn)) return refusal;
  }
  if (waits) [[unlikely]] {
    order_->hold(turn, write, psn);
  } else if (target && *target != nullptr && write.payload.has_bytes()) {
    place_in_order(*target + before, write.payload.bytes());
  }
  context.counters.add(Count::kDataReceived);
  context.counters.add(Count::kBytesPlaced, write.payload.size());
  // REL-27
  received_bytes_ += nominal_size(write.payload.size(), has_immediate);
  if (context.tracing()) {
    context.record({.when = turn.now,
                    .kind = TraceKind::kAccepted,
                    .qpn = turn.connection.local,
                    .psn = write.psn,
                    .value = write.payload.size()});
  }
  const ArrivalWindow::Advance advance = window_.mark(psn, write.part.ends_message());
  if (order_ != nullptr && advance.packets > 1) [[unlikely]] {
    const auto failed = order_->place(turn, psn, window_.expected());
    if (failed) return Refusal{wire::AckSyndrome::kNakRemoteAccess, failed->wrapped()};
  }
  if (advance.messages == 0) return std::nullopt;
  completed_messages_ += static_cast<std::uint32_t>(advance.messages);
  queue_acknowledge(turn);
  return early_.empty() ? std::nullopt : deliver_immediates(turn);
}

// Apart, so that it costs what is new nothing.
[[gnu::noinline]] void Responder::on_write_not_new(const Turn& turn, const wire::RdmaWrite& write,
                                                   UnwrappedPsn psn, const ArrivalInfo& arrival) {
  // REL-12
  if (standing(psn) == Standing::kAboveWindow) {
    return queue_nack(turn, wire::NackReason::kPsnOutOfWindow, psn, arrival.ev,
                      ticks_of(write.sent));
  }
  // REL-11
  turn.context.counters.add(Count::kDuplicatesReceived);
  // The peer may have missed the acknowledgement (REL-10).
  if (psn < window_.expected()) queue_acknowledge(turn);
  report(turn, write, psn, arrival, true);
}

[[gnu::noinline]] void Responder::refuse_immediate(const Turn& turn, const wire::RdmaWrite& write,
                                                   UnwrappedPsn psn, const ArrivalInfo& arrival) {
  turn.context.counters.add(Count::kImmediatesRefused);
  queue_nack(turn, wire::NackReason::kNoResource, psn, arrival.ev, ticks_of(write.sent));
}

std::optional<Responder::Refusal> Responder::on_write(const Turn& turn,
                                                      const wire::RdmaWrite& write,
                                                      UnwrappedPsn psn,
                                                      const ArrivalInfo& arrival) {
  if (standing(psn) != Standing::kNew) [[unlikely]] {
    on_write_not_new(turn, write, psn, arrival);
    return std::nullopt;
  }
  if (write.part.has_immediate() && !has_room_for_immediate(turn, psn)) [[unlikely]] {
    refuse_immediate(turn, write, psn, arrival);
    return std::nullopt;
  }
  if (auto refusal = place(turn, write, psn)) [[unlikely]] {
    if (!refusal->not_now) return refusal;
    queue_nack(turn, wire::NackReason::kNoResource, psn, arrival.ev, ticks_of(write.sent));
    return std::nullopt;
  }
  report(turn, write, psn, arrival, false);
  return std::nullopt;
}

// MRC 6.3: the immediate waits until everything sent before it has arrived. Nothing is kept without
// limit: the peer knows how many it may have open (QP-34, REL-86).
std::optional<Responder::Refusal> Responder::keep_immediate(const Turn& turn,
                                                            const wire::RdmaWrite& write,
                                                            UnwrappedPsn psn) {
  Context& context = turn.context;
  const std::int64_t ahead = write.meth.rqmsn.distance_from(Rqmsn(immediates_delivered_));
  const bool allowed = ahead >= 0 && ahead < immediates_max_ && early_count_ < immediates_max_;
  if (!allowed) return Refusal{wire::AckSyndrome::kNakInvalidRequest, psn.wrapped()};
  const PoolIndex index = context.early.take();
  context.early_shares.take(PeerShares::of(turn.connection.peer));
  context.early[index] = {.psn = psn.raw(),
                          .length = write.reth.dma_length,
                          .immediate = *write.part.immediate(),
                          .rqmsn = write.meth.rqmsn,
                          .msn = write.meth.msn,
                          .rkey = write.reth.rkey,
                          .remote_address = write.reth.virtual_address -
                                            (write.reth.dma_length - write.payload.size())};
  ++early_count_;
  // Mostly it is the latest.
  PoolIndex before =
      early_.empty() || context.early[early_.last()].psn > psn.raw() ? kNoElement : early_.last();
  if (before == kNoElement) {
    for (PoolIndex at = early_.first(); at != kNoElement && context.early[at].psn < psn.raw();
         at = context.early[at].next) {
      before = at;
    }
  }
  early_.insert_after(context.early, before, index);
  return std::nullopt;
}

// MRC 6.3: in the order in which they were sent. There is no RNR: a missing receive is an error.
// QP-35, REL-85
std::optional<Responder::Refusal> Responder::deliver_immediates(const Turn& turn) {
  Context& context = turn.context;
  while (!early_.empty() && context.early[early_.first()].psn < window_.expected().raw()) {
    const PoolIndex index = early_.pop_front(context.early);
    const EarlyImmediate early = context.early[index];
    give_back_early(context, turn.connection, index);
    const bool has_receive = !receives_.empty() || turn.connection.messages != nullptr;
    // REL-88
    if (early.rqmsn != Rqmsn(immediates_delivered_) || !has_receive) {
      return refuse_message(early, wire::AckSyndrome::kNakInvalidRequest);
    }
    ++immediates_delivered_;
    if (turn.connection.messages != nullptr) {
      if (auto refusal = deliver_elsewhere(turn, early)) return refusal;
      continue;
    }
    const PoolIndex receive = receives_.pop_front(context.receives);
    context.completions.push({.id = context.receives[receive].id,
                              .qpn = turn.connection.local,
                              .kind = WorkKind::kReceive,
                              .status = WorkStatus::kSuccess,
                              .length = early.length,
                              .immediate = early.immediate});
    context.receives.give_back(receive);
  }
  return std::nullopt;
}

// This message is not complete, nor is what came after it. Its number is how many were before
// (QP-36).
Responder::Refusal Responder::refuse_message(const EarlyImmediate& early,
                                             wire::AckSyndrome syndrome) {
  const std::uint32_t after = (completed_messages_ - early.msn.raw()) & Msn::kMask;
  completed_messages_ -= std::min(after, completed_messages_);
  return {syndrome, UnwrappedPsn(early.psn).wrapped()};
}

// MSG-1, MSG-3: what memory does not have may be for the layer behind the queue pair.
[[gnu::noinline]] std::optional<Responder::Refusal> Responder::place_elsewhere(
    const Turn& turn, const wire::RdmaWrite& write, UnwrappedPsn psn) {
  if (turn.connection.messages == nullptr || write.reth.rkey != kMessageKey) {
    return Refusal{wire::AckSyndrome::kNakRemoteAccess, psn.wrapped()};
  }
  const MessageHandler::Verdict verdict =
      turn.connection.messages->on_part({.name = write.reth.virtual_address,
                                         .message_length = write.reth.dma_length,
                                         .ends_message = write.part.ends_message(),
                                         .payload = write.payload});
  if (verdict == MessageHandler::Verdict::kTaken) return std::nullopt;
  return Refusal{.syndrome = syndrome_of(verdict),
                 .psn = psn.wrapped(),
                 .not_now = verdict == MessageHandler::Verdict::kNotNow};
}

// MSG-4
[[gnu::noinline]] std::optional<Responder::Refusal> Responder::deliver_elsewhere(
    const Turn& turn, const EarlyImmediate& early) {
  const MessageHandler::Verdict verdict =
      turn.connection.messages->on_delivery({.key = early.rkey,
                                             .name = early.remote_address,
                                             .length = early.length,
                                             .immediate = early.immediate});
  if (verdict == MessageHandler::Verdict::kTaken) return std::nullopt;
  return refuse_message(early, syndrome_of(verdict));
}

// MRC 7.5.2.1 (REL-22): a SACK reflects the path and the timestamp of the packet that triggered it.
void Responder::queue_sack(const Turn& turn, UnwrappedPsn psn, const ArrivalInfo& arrival,
                           std::uint16_t tx_ticks, bool retransmission) {
  turn.context.queue_control({.kind = ControlItem::Kind::kSack,
                              .mark = mark_of(arrival),
                              .retransmission = retransmission,
                              .tx_ticks = tx_ticks,
                              .share = PeerShares::of(turn.connection.peer),
                              .serial = turn.connection.serial,
                              .owner = turn.connection.index,
                              .ev = arrival.ev,
                              .psn = psn});
}

void Responder::queue_nack(const Turn& turn, wire::NackReason reason, UnwrappedPsn psn, Ev ev,
                           std::uint16_t tx_ticks) {
  if (turn.context.tracing()) {
    turn.context.record({.when = turn.now,
                         .kind = TraceKind::kRefused,
                         .qpn = turn.connection.local,
                         .psn = psn.wrapped(),
                         .value = static_cast<std::int64_t>(reason)});
  }
  turn.context.queue_control({.kind = ControlItem::Kind::kNack,
                              .reason = reason,
                              .tx_ticks = tx_ticks,
                              .share = PeerShares::of(turn.connection.peer),
                              .serial = turn.connection.serial,
                              .owner = turn.connection.index,
                              .ev = ev,
                              .psn = psn});
}

// One for all messages that complete until it leaves (REL-70).
void Responder::queue_acknowledge(const Turn& turn) {
  if (acknowledge_queued_) return;
  acknowledge_queued_ = turn.context.queue_control({.kind = ControlItem::Kind::kAcknowledge,
                                                    .share = PeerShares::of(turn.connection.peer),
                                                    .serial = turn.connection.serial,
                                                    .owner = turn.connection.index});
}

// MRC 7.5.3 (REL-44, REL-51): a switch cut the packet; its headers say which one to send again.
void Responder::on_trimmed(const Turn& turn, const wire::TrimmedWrite& trimmed, UnwrappedPsn psn,
                           const ArrivalInfo& arrival) {
  turn.context.counters.add(Count::kTrimmedReceived);
  const std::uint16_t tx_ticks = ticks_of(trimmed.sent);
  switch (standing(psn)) {
    case Standing::kDuplicate:
      return queue_sack(turn, psn, arrival, tx_ticks, trimmed.retransmission);
    case Standing::kAboveWindow:
      return queue_nack(turn, wire::NackReason::kPsnOutOfWindow, psn, arrival.ev, tx_ticks);
    case Standing::kNew: break;
  }
  const bool last_hop = trimmed.place == wire::TrimPlace::kLastHop;
  if (last_hop) turn.context.fair_share.on_trimmed_at_last_hop(turn.connection.mtu);
  const auto reason = last_hop ? wire::NackReason::kTrimmedLastHop : wire::NackReason::kTrimmed;
  queue_nack(turn, reason, psn, arrival.ev, tx_ticks);
}

// MRC 6.5, 7.4.6, 7.5.2 (REL-19): the fifth trigger.
void Responder::on_probe(const Turn& turn, const wire::ReliabilityProbe& probe,
                         const ArrivalInfo& arrival, unsigned copies) {
  turn.context.counters.add(Count::kProbesReceived);
  for (unsigned i = 0; i < copies; ++i) {
    turn.context.queue_control({.kind = ControlItem::Kind::kSack,
                                .mark = mark_of(arrival),
                                .answers_probe = true,
                                .id = probe.peth.id.raw(),
                                .tx_ticks = probe.peth.sent.ticks,
                                .share = PeerShares::of(turn.connection.peer),
                                .serial = turn.connection.serial,
                                .owner = turn.connection.index,
                                .ev = arrival.ev,
                                .psn = window_.cumulative()});
  }
}

// REL-26, REL-28
void Responder::fill(const Turn& turn, const ControlItem& item, wire::Sack& out) {
  const ArrivalWindow::Bitmap bitmap =
      item.answers_probe ? window_.report_gaps() : window_.report();
  const UnwrappedPsn cumulative = window_.cumulative();
  const std::uint8_t earned = turn.peer.received.penalty;
  if (earned > 0) restore_ = false;  // what was before is too much now
  // Far behind, a duplicate; the field has 16 bits, and the distance does not matter (REL-25).
  const std::int64_t offset = std::clamp<std::int64_t>(item.psn - cumulative, -0x8000, 0x7fff);
  out.destination_qp = turn.connection.remote;
  // REL-23
  out.retransmission = item.retransmission;
  out.seth = {.mark = item.mark,
              .trigger = item.answers_probe
                             ? wire::SackTrigger::probe(wire::ProbeId(item.id))
                             : wire::SackTrigger::packet(static_cast<std::int16_t>(offset)),
              .entropy = item.ev,
              .spdcid = wire::connection_id(turn.connection.local),
              .dpdcid = wire::connection_id(turn.connection.remote),
              .cack_psn = cumulative.wrapped(),
              // REL-5
              .mpr = turn.connection.dynamic_mpr ? mpr_ : std::uint8_t{0},
              .sack_offset = static_cast<std::int16_t>(bitmap.base - cumulative),
              .sack_bitmap = bitmap.bits};
  out.cc_state = {
      .tx_ticks = item.tx_ticks,
      .ooo_count = static_cast<std::uint16_t>(std::min(window_.out_of_order(), kOooCountMax)),
      .restore_cwnd = restore_,
      .receiver_penalty = std::max(penalty_, earned),
      .received_units = wire::received_units(received_bytes_)};
}

// MRC 6.3 (REL-69): how many messages are complete; the credit field says "none" as ever.
void Responder::fill(const Turn& turn, wire::Acknowledge& out) {
  acknowledge_queued_ = false;
  out.destination_qp = turn.connection.remote;
  out.psn = window_.cumulative().wrapped();
  out.aeth = {.syndrome = wire::AckSyndrome::kAck, .msn = AckMsn(completed_messages_)};
}

void Responder::give_back_early(Context& context, const Connection& connection, PoolIndex index) {
  context.early.give_back(index);
  context.early_shares.give_back(PeerShares::of(connection.peer));
  --early_count_;
}

void Responder::flush(Context& context, const Connection& connection, Flush how) {
  while (!early_.empty()) {
    give_back_early(context, connection, early_.pop_front(context.early));
  }
  if (order_ != nullptr) order_->forget(context, connection);
  while (!receives_.empty()) {
    const PoolIndex receive = receives_.pop_front(context.receives);
    if (how == Flush::kComplete) {
      context.completions.push({.id = context.receives[receive].id,
                                .qpn = connection.local,
                                .kind = WorkKind::kReceive,
                                .status = WorkStatus::kFlushed});
    }
    context.receives.give_back(receive);
  }
}

}  // namespace openmrc::core
