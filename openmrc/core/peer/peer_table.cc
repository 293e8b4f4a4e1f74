// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/peer/peer_table.h"

#include <algorithm>
#include <utility>

#include "openmrc/base/rng.h"
#include "openmrc/wire/field/byte_order.h"

namespace openmrc::core {
namespace {

// A peer is entered once for each address that differs from the ones before.
bool is_first_of_its_kind(const Peer& peer, std::size_t plane) {
  const auto begin = peer.addresses.begin();
  const auto at = begin + static_cast<std::ptrdiff_t>(plane);
  return std::find(begin, at, *at) == at;
}

}  // namespace

std::uint64_t PeerTable::hash(const wire::Ipv6Address& address) {
  std::uint64_t state = wire::load_be<std::uint64_t>(address.bytes.data()) * 0x9e3779b97f4a7c15 ^
                        wire::load_be<std::uint64_t>(address.bytes.data() + 8);
  return split_mix(state);
}

void PeerTable::enter(PeerIndex index) {
  const Peer& peer = *peers_[index];
  for (std::size_t plane = 0; plane < peer.addresses.size(); ++plane) {
    if (!is_first_of_its_kind(peer, plane)) continue;
    std::size_t at = hash(peer.addresses[plane]) & mask();
    while (slots_[at] != kEmpty) at = (at + 1) & mask();
    slots_[at] = slot(index, plane);
    ++used_slots_;
  }
}

// At most half full, removed entries included; these are left behind when the table grows.
void PeerTable::make_room(std::size_t more) {
  if (2 * (used_slots_ + more) <= slots_.size()) return;
  std::size_t needed = more;
  for (const auto& peer : peers_) needed += peer ? peer->addresses.size() : 0;
  slots_.assign(std::max<std::size_t>(64, std::bit_ceil(needed * 2)), kEmpty);
  used_slots_ = 0;
  for (PeerIndex index = 0; index < peers_.size(); ++index) {
    if (peers_[index]) enter(index);
  }
}

PeerIndex PeerTable::add(std::unique_ptr<Peer> peer) {
  make_room(peer->addresses.size());
  PeerIndex index;
  if (free_.empty()) {
    index = static_cast<PeerIndex>(peers_.size());
    peers_.push_back(std::move(peer));
    free_.reserve(peers_.capacity());  // so that removing never allocates
  } else {
    index = free_.back();
    free_.pop_back();
    peers_[index] = std::move(peer);
  }
  enter(index);
  return index;
}

void PeerTable::remove(PeerIndex index) {
  const Peer& peer = *peers_[index];
  for (std::size_t plane = 0; plane < peer.addresses.size(); ++plane) {
    if (!is_first_of_its_kind(peer, plane)) continue;
    std::size_t at = hash(peer.addresses[plane]) & mask();
    while (slots_[at] != slot(index, plane)) at = (at + 1) & mask();
    slots_[at] = kRemoved;
  }
  peers_[index].reset();
  free_.push_back(index);
}

}  // namespace openmrc::core
