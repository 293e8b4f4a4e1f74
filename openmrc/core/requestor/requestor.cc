// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/requestor/requestor.h"

#include <algorithm>

#include "openmrc/base/check.h"

namespace openmrc::core {

namespace {

// One packet's share of a message.
struct Cut {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  bool is_last = false;
};

[[gnu::always_inline]] inline wire::MessagePart part_of(const SendMessage& message,
                                                        const Cut& cut) {
  using wire::MessagePart;
  if (!cut.is_last) return cut.offset == 0 ? MessagePart::first() : MessagePart::middle();
  const bool only = cut.offset == 0;
  if (!message.has_immediate) return only ? MessagePart::only() : MessagePart::last();
  return only ? MessagePart::only(message.immediate) : MessagePart::last(message.immediate);
}

// MRC 6.2 (WIRE-38, WIRE-54, WIRE-55): every packet says by itself where it belongs.
[[gnu::always_inline]] inline void fill(const Turn& turn, const SendMessage& message,
                                        const Cut& cut, UnwrappedPsn psn, wire::RdmaWrite& out) {
  out.destination_qp = turn.connection.remote;
  out.psn = psn.wrapped();
  out.part = part_of(message, cut);
  out.meth = {.rqmsn = message.rqmsn, .msn = message.msn};
  out.sent = wire::TxTimestamp{.ticks = ticks_at(turn.now)};
  out.reth = {.virtual_address = message.remote_address + cut.offset,
              .rkey = message.rkey,
              .dma_length = message.length};
  out.payload = payload_of(message, cut.offset, cut.size);
}

}  // namespace

Requestor::Requestor(const ReadyToSendAttributes& attributes)
    : flight_(attributes.mpr, UnwrappedPsn(attributes.first_psn.raw())),
      messages_(attributes.max_wimm),
      retry_(attributes),
      psn_range_(attributes.mpr * kPsnsPerMpr),
      psn_range_max_(psn_range_) {}

void Requestor::post(const Turn& turn, PoolIndex message) {
  if (messages_.empty()) last_feedback_ = turn.now;  // nothing was awaited before
  messages_.post(turn.context, message);
  arm(turn);
}

void Requestor::arm(const Turn& turn) {
  turn.context.timers.arm(timer_, {TimerOwner::Kind::kQueuePair, turn.connection.index},
                          next_deadline(turn));
}

// Oldest gap first, and gaps before new packets (MRC 7.4.4; REL-53).
Requestor::Offer Requestor::next(Context& context, std::uint32_t mtu) {
  if (ack_wanted_ || sent().has_lost()) [[unlikely]]
    return next_retransmit(context);
  // REL-2
  if (!messages_.has_next() || sent().size() >= psn_range_) return {};
  const SendMessage& message = context.messages[messages_.current()];
  if (messages_.is_held(message)) return {};
  // REL-91
  if (!flight_.can_send_new(context.sent)) return {.what = Next::kNoRoom};
  const std::uint32_t left = message.length - messages_.offset();
  const bool is_last = left <= mtu;
  const std::uint32_t payload_size = is_last ? left : mtu;
  return {.what = Next::kNew,
          .is_last = is_last,
          .payload_size = payload_size,
          .size = std::max(nominal_size(payload_size, is_last && message.has_immediate),
                           // CC-7
                           context.settings.packet_weight_min)};
}

Requestor::Offer Requestor::next_retransmit(Context& context) {
  // For an acknowledgement: what is sent has arrived already and does not count as in flight.
  if (ack_wanted_) return {.what = Next::kRetransmit, .avoid = ack_path_};
  const UnwrappedPsn psn = flight_.first_lost(context.sent);
  // The responder may have shrunk the window below what is lost (MRC 7.5.1; REL-7).
  if (psn - sent().oldest() >= psn_range_) return {};
  const SentPacket& packet = flight_.packet(context.sent, psn);
  // REL-54
  return {.what = Next::kRetransmit, .avoid = packet.ev, .size = ByteCount(packet.size)};
}

void Requestor::send(const Turn& turn, const Offer& offer, const PathSet::Choice& path,
                     wire::RdmaWrite& out) {
  const bool was_empty = sent().empty();
  no_route_ = false;
  turn.peer.network_is_empty = false;
  turn.peer.last_sent = last_sent_ = turn.now;
  if (offer.what == Next::kNew) [[likely]] {
    send_new(turn, offer, path, out);
  } else {
    const bool was_lost = !probes_help();
    retransmit(turn, path, out);
    if (was_lost) arm(turn);  // now they do
  }
  if (was_empty) {
    retry_.begin_interval(turn.now);
    arm(turn);
  }
}

[[gnu::always_inline]] inline void Requestor::send_new(const Turn& turn, const Offer& offer,
                                                       const PathSet::Choice& path,
                                                       wire::RdmaWrite& out) {
  Context& context = turn.context;
  Peer& peer = turn.peer;
  SendMessage& message = context.messages[messages_.current()];
  if (messages_.offset() == 0) messages_.begin(message, sent().next());
  const UnwrappedPsn psn = flight_.send_new(turn, path, messages_.current(), offer.size);
  sent_bytes_ += offer.size;
  fill(turn, message,
       {.offset = messages_.offset(), .size = offer.payload_size, .is_last = offer.is_last}, psn,
       out);
  messages_.advance(message, offer.payload_size, offer.is_last);
  out.retransmission = false;
  // MRC 7.4 (REL-59), UET 3.6.13: ask for a SACK when nothing else will bring one soon.
  out.ack_request = !messages_.has_next() || sent().size() >= psn_range_ ||
                    !peer.may_send(nominal_size(turn.connection.mtu, false)) ||
                    peer.congestion.window() < ByteCount(context.settings.sack.threshold_bytes);
  if (context.tracing()) {
    context.record({.when = turn.now,
                    .kind = TraceKind::kSent,
                    .qpn = turn.connection.local,
                    .psn = psn.wrapped(),
                    .ev = path.ev,
                    .value = offer.payload_size});
  }
}

void Requestor::on_no_route(const Turn& turn) {
  if (no_route_) return;
  no_route_ = true;
  retry_.begin_interval(turn.now);
  // A probe could not leave either.
  turn.context.timers.arm(timer_, {TimerOwner::Kind::kQueuePair, turn.connection.index},
                          timeout_deadline());
}

// MRC 7.4.4: a retransmission says so, takes a fresh path, and wants to be answered.
// REL-55, REL-57
void Requestor::retransmit(const Turn& turn, const PathSet::Choice& path, wire::RdmaWrite& out) {
  Context& context = turn.context;
  Flight::Retransmitted again{.psn = {}, .message = messages_.first()};
  if (ack_wanted_) {
    ack_wanted_ = false;
    ack_path_ = path.ev;
    const SendMessage& message = context.messages[again.message];
    again.psn = UnwrappedPsn(message.first_psn + message.packets - 1);
    context.counters.add(Count::kRetransmitsForAck);
  } else {
    again = flight_.retransmit(turn, path);
  }
  const UnwrappedPsn psn = again.psn;
  const SendMessage& message = context.messages[again.message];
  const auto offset =
      static_cast<std::uint32_t>((psn.raw() - message.first_psn) * turn.connection.mtu);
  const std::uint32_t left = message.length - offset;
  fill(turn, message,
       {.offset = offset,
        .size = std::min(left, turn.connection.mtu),
        .is_last = left <= turn.connection.mtu},
       psn, out);
  out.retransmission = true;
  out.ack_request = true;
  if (context.tracing()) {
    context.record({.when = turn.now,
                    .kind = TraceKind::kRetransmitted,
                    .qpn = turn.connection.local,
                    .psn = psn.wrapped(),
                    .ev = path.ev,
                    .value = out.payload.size()});
  }
}

void Requestor::flush(const Turn& turn, const Fatal& fatal, Flush how) {
  flight_.clear(turn);
  messages_.flush(turn.context, turn.connection.local, fatal.psn, fatal.status, how);
  ack_wanted_ = false;
}

}  // namespace openmrc::core
