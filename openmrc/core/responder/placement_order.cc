// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/responder/placement_order.h"

#include <algorithm>
#include <bit>
#include <span>

#include "openmrc/base/check.h"
#include "openmrc/core/memory/placement.h"

namespace openmrc::core {

PlacementOrder::PlacementOrder(std::int64_t range)
    : by_psn_(std::bit_ceil(static_cast<std::size_t>(range)), kNoElement) {}

bool PlacementOrder::has_room(const Turn& turn) {
  const std::size_t room = turn.context.held.room();
  return room > 0 && turn.context.held_shares.may_take(PeerShares::of(turn.connection.peer), room);
}

void PlacementOrder::hold(const Turn& turn, const wire::RdmaWrite& write, UnwrappedPsn psn) {
  OPENMRC_DCHECK(at(psn) == kNoElement, "one packet for a PSN");
  Context& context = turn.context;
  const PoolIndex index = context.held.take();
  context.held_shares.take(PeerShares::of(turn.connection.peer));
  HeldPacket& packet = context.held[index];
  packet.rkey = write.reth.rkey;
  packet.address = write.reth.virtual_address;
  packet.length = write.payload.size();
  std::ranges::copy(write.payload.bytes(), packet.bytes.begin());
  at(psn) = index;
  ++count_;
}

std::optional<UnwrappedPsn> PlacementOrder::place(const Turn& turn, UnwrappedPsn first,
                                                  UnwrappedPsn end) {
  Context& context = turn.context;
  for (UnwrappedPsn psn = first; count_ > 0 && psn < end; psn = psn + 1) {
    PoolIndex& held = at(psn);
    if (held == kNoElement) continue;
    const HeldPacket& packet = context.held[held];
    const auto target = context.memory.find_writable({.key = packet.rkey,
                                                      .domain = turn.connection.domain,
                                                      .address = packet.address,
                                                      .length = packet.length});
    if (target) place_in_order(*target, std::span(packet.bytes).first(packet.length));
    give_back(context, turn.connection, held);
    if (!target) return psn;
  }
  return std::nullopt;
}

void PlacementOrder::forget(Context& context, const Connection& connection) {
  for (PoolIndex& held : by_psn_) {
    if (held != kNoElement) give_back(context, connection, held);
  }
}

void PlacementOrder::give_back(Context& context, const Connection& connection, PoolIndex& held) {
  context.held.give_back(held);
  context.held_shares.give_back(PeerShares::of(connection.peer));
  held = kNoElement;
  --count_;
}

}  // namespace openmrc::core
