// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/requestor.h"

#include <algorithm>

#include "openmrc/base/check.h"

namespace openmrc::core {

// One packet's share of a message.
struct Requestor::Cut {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  bool is_last = false;
};

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

Requestor::Next Requestor::next(Context& context) {
  // Oldest gap first, and gaps before new packets (MRC 7.4.4).
  if (ack_wanted_) return Next::kResend;
  if (window_.has_lost()) {
    // The responder may have shrunk the window below what is lost (MRC 7.5.1).
    const bool allowed = psn_range_ == psn_range_max_ ||
                         window_.oldest_lost(context.sent) - window_.oldest() < psn_range_;
    return allowed ? Next::kResend : Next::kNothing;
  }
  if (current_ == kNoElement || window_.size() >= psn_range_) return Next::kNothing;
  if (offset_ == 0 && immediates_open_ >= immediates_max_ &&
      context.messages[current_].has_immediate) {
    return Next::kNothing;
  }
  return window_.can_append(context.sent) ? Next::kNew : Next::kNothing;
}

Requestor::Cut Requestor::cut(const SendMessage& message, std::uint32_t offset,
                              std::uint32_t mtu) const {
  const std::uint32_t left = message.length - offset;
  return {.offset = offset, .size = std::min(left, mtu), .is_last = left <= mtu};
}

ByteCount Requestor::next_size(Context& context, std::uint32_t mtu, Next what) {
  if (what == Next::kNew) {
    const SendMessage& message = context.messages[current_];
    const Cut next = cut(message, offset_, mtu);
    return nominal_size(next.size, next.is_last && message.has_immediate);
  }
  if (ack_wanted_) return ByteCount(0);  // not counted as in flight: it has arrived already
  return ByteCount(window_.packet(context.sent, window_.oldest_lost(context.sent)).size);
}

std::optional<EvIndex> Requestor::next_avoids(Context& context, Next what) {
  if (what == Next::kNew || ack_wanted_) return std::nullopt;
  return window_.packet(context.sent, window_.oldest_lost(context.sent)).ev;
}

void Requestor::begin_message(SendMessage& message) {
  message.first_psn = window_.next().raw();
  message.msn = Msn{} + begun_messages_++;
  if (!message.has_immediate) return;
  message.rqmsn = Rqmsn(immediates_begun_++);
  ++immediates_open_;
}

void Requestor::depart(const Turn& turn, SentPacket& packet, const PathSet::Choice& path) {
  Peer& peer = turn.peer;
  packet.sent = turn.now;
  packet.order = ++peer.send_order;
  packet.ev = path.ev;
  peer.in_flight += ByteCount(packet.size);
  peer.last_sent = turn.now;
  last_sent_ = turn.now;
  if (!peer.flight) [[unlikely]] {
    peer.flight = std::make_unique<PathFlight>();
    peer.flight->latest_on_ev.fill(peer.send_order - 1);
    peer.arrived_order = peer.send_order - 1;
  }
}

void Requestor::send(const Turn& turn, Next what, const PathSet::Choice& path,
                     wire::RdmaWrite& out) {
  Context& context = turn.context;
  const bool was_empty = window_.empty();
  if (what == Next::kNew) {
    SendMessage& message = context.messages[current_];
    if (offset_ == 0) begin_message(message);
    const Cut next = cut(message, offset_, turn.connection.mtu);
    const UnwrappedPsn psn = window_.next();
    SentPacket& packet = window_.append(context.sent);
    packet.message = current_;
    packet.transmissions = 1;
    packet.size = static_cast<std::uint32_t>(
        nominal_size(next.size, next.is_last && message.has_immediate).raw());
    depart(turn, packet, path);
    fill(turn, message, next, psn, out);
    offset_ += next.size;
    if (next.is_last) {
      ++sent_messages_;
      current_ = message.next;
      offset_ = 0;
    }
    out.retransmission = false;
    // MRC 7.4, UET 3.6.13: ask for a SACK when nothing else will bring one soon.
    out.ack_request =
        current_ == kNoElement || window_.size() >= psn_range_ ||
        !turn.peer.may_send(nominal_size(turn.connection.mtu, false)) ||
        turn.peer.congestion.window() < ByteCount(context.settings.sack.threshold_bytes);
    context.record({.when = turn.now,
                    .kind = TraceKind::kSent,
                    .qpn = turn.connection.local,
                    .psn = psn.wrapped(),
                    .ev = path.ev,
                    .value = next.size});
  } else {
    resend(turn, path, out);
  }
  if (was_empty) arm(turn);
}

// MRC 7.4.4: a retransmission says so, takes a fresh path, and wants to be answered.
void Requestor::resend(const Turn& turn, const PathSet::Choice& path, wire::RdmaWrite& out) {
  Context& context = turn.context;
  UnwrappedPsn psn;
  PoolIndex message_index = messages_.first();
  if (ack_wanted_) {
    ack_wanted_ = false;
    last_sent_ = turn.now;
    const SendMessage& message = context.messages[message_index];
    psn = UnwrappedPsn(message.first_psn + message.packets - 1);
    context.counters.add(Count::kResentForAck);
  } else {
    psn = window_.oldest_lost(context.sent);
    SentPacket& packet = window_.resend(context.sent, psn);
    message_index = packet.message;
    if (packet.transmissions < 0xff) ++packet.transmissions;
    context.counters.add(packet.lost_because);
    depart(turn, packet, path);
  }
  const SendMessage& message = context.messages[message_index];
  const auto offset =
      static_cast<std::uint32_t>((psn.raw() - message.first_psn) * turn.connection.mtu);
  fill(turn, message, cut(message, offset, turn.connection.mtu), psn, out);
  out.retransmission = true;
  out.ack_request = true;
  context.record({.when = turn.now,
                  .kind = TraceKind::kResent,
                  .qpn = turn.connection.local,
                  .psn = psn.wrapped(),
                  .ev = path.ev,
                  .value = out.payload.size()});
}

void Requestor::fill(const Turn& turn, const SendMessage& message, const Cut& cut, UnwrappedPsn psn,
                     wire::RdmaWrite& out) const {
  using wire::MessagePart;
  out.destination_qp = turn.connection.remote;
  out.psn = psn.wrapped();
  if (cut.is_last) {
    const bool only = cut.offset == 0;
    out.part = message.has_immediate ? (only ? MessagePart::only(message.immediate)
                                             : MessagePart::last(message.immediate))
                                     : (only ? MessagePart::only() : MessagePart::last());
  } else {
    out.part = cut.offset == 0 ? MessagePart::first() : MessagePart::middle();
  }
  out.meth = {.rqmsn = message.rqmsn, .msn = message.msn};
  out.sent = wire::TxTimestamp{.ticks = ticks_at(turn.now)};
  out.reth = {.virtual_address = message.remote_address + cut.offset,
              .rkey = message.rkey,
              .dma_length = message.length};
  out.payload = message.data == nullptr
                    ? wire::Payload::of_length(cut.size)
                    : wire::Payload::of_bytes({message.data + cut.offset, cut.size});
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
  window_.clear(context.sent,
                [&](SentPacket& packet) { turn.peer.in_flight -= ByteCount(packet.size); });
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
