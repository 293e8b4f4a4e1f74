// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "openmrc/core/requestor/requestor.h"

// Packets from the middle of a message, many at once. They leave exactly as if each had been
// offered and sent by itself; what they have in common is looked up, checked and counted once.
namespace openmrc::core {

inline std::int64_t Requestor::run_length(const Turn& turn, std::int64_t most) const {
  if (ack_wanted_ || sent().has_lost() || turn.context.tracing()) return 0;
  // The first packet in flight starts clocks.
  if (sent().empty() || !turn.peer.losses.is_running()) return 0;
  // The first packet of a message gives it numbers, the last one may have an immediate.
  if (!messages_.has_next() || messages_.offset() == 0) return 0;
  std::int64_t count = std::min({most, psn_range_ - sent().size(), sent().room_in_chunk()});
  if (count <= 0) return 0;
  const std::uint64_t left = turn.context.messages[messages_.current()].length - messages_.offset();
  const std::uint64_t mtu = turn.connection.mtu;
  if (left <= mtu * static_cast<std::uint64_t>(count)) {
    count = static_cast<std::int64_t>((left - 1) / mtu);
  }
  const ByteCount size = full_size(turn);
  const ByteCount room = turn.peer.congestion.window() - turn.peer.in_flight;
  if (room < size * count) count = std::max(room.raw(), std::int64_t{0}) / size.raw();
  return count;
}

template <class Record>
[[gnu::always_inline]] inline void Requestor::send_run(const Turn& turn, PlaneMask planes,
                                                       std::int64_t count, Record&& record) {
  Peer& peer = turn.peer;
  const SendMessage& message = turn.context.messages[messages_.current()];
  const std::uint32_t mtu = turn.connection.mtu;
  const ByteCount size = full_size(turn);
  // REL-59, as in send_new: all but the last are followed by others.
  const bool ack_request =
      peer.congestion.window() < ByteCount(turn.context.settings.sack.threshold_bytes);
  std::uint32_t offset = messages_.offset();
  UnwrappedPsn psn = sent().next();
  const SentPacket* packet = flight_.send_many(turn, planes, count, messages_.current(), size);
  wire::RdmaWrite& first = record(0, packet->ev);
  first = {.destination_qp = turn.connection.remote,
           .psn = psn.wrapped(),
           .ack_request = ack_request,
           .part = wire::MessagePart::middle(),
           .meth = {.rqmsn = message.rqmsn, .msn = message.msn},
           .sent = wire::TxTimestamp{.ticks = ticks_at(turn.now)},
           .reth = {.virtual_address = message.remote_address + offset,
                    .rkey = message.rkey,
                    .dma_length = message.length},
           .payload = payload_of(message, offset, mtu)};
  wire::RdmaWrite* last = &first;
  for (std::int64_t i = 1; i < count; ++i) {
    last = &record(i, packet[i].ev);
    *last = first;
    psn = psn + 1;
    offset += mtu;
    last->psn = psn.wrapped();
    last->reth.virtual_address = message.remote_address + offset;
    last->payload = payload_of(message, offset, mtu);
  }
  offset += mtu;
  messages_.advance_within(offset - messages_.offset());
  sent_bytes_ += size * count;
  no_route_ = false;
  peer.network_is_empty = false;
  peer.last_sent = last_sent_ = turn.now;
  last->ack_request =
      ack_request || sent().size() >= psn_range_ || !peer.may_send(nominal_size(mtu, false));
}

}  // namespace openmrc::core
