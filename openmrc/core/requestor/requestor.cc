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

// MRC 6.2: every packet says by itself where it belongs.
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
  out.payload = message.data == nullptr
                    ? wire::Payload::of_length(cut.size)
                    : wire::Payload::of_bytes({message.data + cut.offset, cut.size});
}

}  // namespace

Requestor::Requestor(const ReadyToSendAttributes& attributes)
    : window_(attributes.mpr, UnwrappedPsn(attributes.first_psn.raw())),
      psn_range_(attributes.mpr * kPsnsPerMpr),
      psn_range_max_(psn_range_),
      immediates_max_(attributes.max_wimm),
      timeout_exponent_(attributes.timeout),
      linear_retries_(attributes.linear_retries),
      exponential_retries_(attributes.exponential_retries) {}

void Requestor::post(const Turn& turn, PoolIndex message) {
  if (messages_.empty()) last_feedback_ = turn.now;  // nothing was awaited before
  messages_.push_back(turn.context.messages, message);
  if (current_ == kNoElement) {
    current_ = message;
    offset_ = 0;
  }
  arm(turn);
}

void Requestor::arm(const Turn& turn) {
  turn.context.timers.arm(timer_, {TimerOwner::Kind::kQueuePair, turn.connection.index},
                          next_deadline(turn));
}

// Oldest gap first, and gaps before new packets (MRC 7.4.4).
Requestor::Offer Requestor::next(Context& context, std::uint32_t mtu) {
  if (ack_wanted_ || window_.has_lost()) [[unlikely]]
    return next_retransmit(context);
  if (current_ == kNoElement || window_.size() >= psn_range_) return {};
  const SendMessage& message = context.messages[current_];
  const bool is_held = offset_ == 0 && message.has_immediate && immediates_open_ >= immediates_max_;
  if (is_held) return {};
  if (!window_.can_append(context.sent)) return {.what = Next::kNoRoom};
  const std::uint32_t left = message.length - offset_;
  const bool is_last = left <= mtu;
  const std::uint32_t payload_size = is_last ? left : mtu;
  return {.what = Next::kNew,
          .is_last = is_last,
          .payload_size = payload_size,
          .size = std::max(nominal_size(payload_size, is_last && message.has_immediate),
                           context.settings.packet_weight_min)};
}

Requestor::Offer Requestor::next_retransmit(Context& context) {
  // For an acknowledgement: what is sent has arrived already and does not count as in flight.
  if (ack_wanted_) return {.what = Next::kRetransmit};
  const UnwrappedPsn psn = window_.oldest_lost(context.sent);
  // The responder may have shrunk the window below what is lost (MRC 7.5.1).
  if (psn - window_.oldest() >= psn_range_) return {};
  const SentPacket& packet = window_.packet(context.sent, psn);
  return {.what = Next::kRetransmit, .avoid = packet.ev, .size = ByteCount(packet.size)};
}

void Requestor::begin_message(SendMessage& message) {
  message.first_psn = window_.next().raw();
  message.msn = Msn{} + begun_messages_++;
  if (!message.has_immediate) return;
  message.rqmsn = Rqmsn(immediates_begun_++);
  ++immediates_open_;
}

[[gnu::always_inline]] inline void Requestor::depart(const Turn& turn, SentPacket& packet,
                                                     const PathSet::Choice& path) {
  Peer& peer = turn.peer;
  if (!peer.losses.is_running()) [[unlikely]] {
    start_flight(turn.context, turn.connection.peer, peer, turn.now);
  }
  packet.sent = turn.now;
  packet.ev = path.ev;
  packet.path = path.path;
  peer.losses.on_sent(packet);
  peer.in_flight += ByteCount(packet.size);
  peer.last_sent = turn.now;
  last_sent_ = turn.now;
}

void Requestor::send(const Turn& turn, const Offer& offer, const PathSet::Choice& path,
                     wire::RdmaWrite& out) {
  const bool was_empty = window_.empty();
  no_route_ = false;
  turn.peer.network_is_empty = false;
  if (offer.what == Next::kNew) [[likely]] {
    send_new(turn, offer, path, out);
  } else {
    const bool was_lost = !probes_help();
    retransmit(turn, path, out);
    if (was_lost) arm(turn);  // now they do
  }
  if (was_empty) {
    interval_began_ = turn.now;
    arm(turn);
  }
}

[[gnu::always_inline]] inline void Requestor::send_new(const Turn& turn, const Offer& offer,
                                                       const PathSet::Choice& path,
                                                       wire::RdmaWrite& out) {
  Context& context = turn.context;
  Peer& peer = turn.peer;
  SendMessage& message = context.messages[current_];
  if (offset_ == 0) begin_message(message);
  const UnwrappedPsn psn = window_.next();
  SentPacket& packet = window_.append(context.sent);
  packet.message = current_;
  packet.transmissions = 1;
  packet.size = static_cast<std::uint32_t>(offer.size.raw());
  depart(turn, packet, path);
  fill(turn, message, {.offset = offset_, .size = offer.payload_size, .is_last = offer.is_last},
       psn, out);
  offset_ += offer.payload_size;
  if (offer.is_last) {
    ++sent_messages_;
    current_ = message.next;
    offset_ = 0;
  }
  out.retransmission = false;
  // MRC 7.4, UET 3.6.13: ask for a SACK when nothing else will bring one soon.
  out.ack_request = current_ == kNoElement || window_.size() >= psn_range_ ||
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
  interval_began_ = turn.now;
  arm(turn);
}

// MRC 7.4.4: a retransmission says so, takes a fresh path, and wants to be answered.
void Requestor::retransmit(const Turn& turn, const PathSet::Choice& path, wire::RdmaWrite& out) {
  Context& context = turn.context;
  UnwrappedPsn psn;
  PoolIndex message_index = messages_.first();
  if (ack_wanted_) {
    ack_wanted_ = false;
    last_sent_ = turn.now;
    const SendMessage& message = context.messages[message_index];
    psn = UnwrappedPsn(message.first_psn + message.packets - 1);
    context.counters.add(Count::kRetransmitsForAck);
  } else {
    psn = window_.oldest_lost(context.sent);
    SentPacket& packet = window_.retransmit(context.sent, psn);
    message_index = packet.message;
    if (packet.transmissions < 0xff) ++packet.transmissions;
    context.counters.add(packet.lost_because);
    packet.ev_before = packet.ev;
    depart(turn, packet, path);
    retransmitted_.append(context.sent, window_.ref(psn), packet);
  }
  const SendMessage& message = context.messages[message_index];
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

void Requestor::complete_first(const Turn& turn, WorkStatus status, Flush how) {
  Context& context = turn.context;
  const PoolIndex index = messages_.pop_front(context.messages);
  const SendMessage& message = context.messages[index];
  if (message.has_immediate && immediates_open_ > 0) --immediates_open_;
  if (how == Flush::kComplete) {
    context.completions.push({.id = message.id,
                              .qpn = turn.connection.local,
                              .kind = WorkKind::kWrite,
                              .status = status,
                              .length = message.length});
  }
  context.messages.give_back(index);
}

void Requestor::flush(const Turn& turn, const Fatal& fatal, Flush how) {
  Context& context = turn.context;
  window_.clear(context.sent, [&](SentPacket& packet) { settle(turn, packet); });
  bool named_one = false;
  while (!messages_.empty()) {
    const SendMessage& message = context.messages[messages_.first()];
    // What has not begun has no PSN; if it comes to that, the first in line failed to begin.
    const bool begun = completed_messages_ < begun_messages_;
    const bool named =
        !named_one && (!begun || fatal.psn.raw() < message.first_psn + message.packets);
    named_one = named_one || named;
    ++completed_messages_;
    complete_first(turn, named ? fatal.status : WorkStatus::kFlushed, how);
  }
  current_ = kNoElement;
  ack_wanted_ = false;
}

}  // namespace openmrc::core
