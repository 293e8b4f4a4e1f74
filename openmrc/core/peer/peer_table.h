// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "openmrc/core/peer/peer.h"
#include "openmrc/wire/field/ip_address.h"

namespace openmrc::core {

// The peers of an endpoint, by number and by address. An address may belong to several: one for
// each pair of profiles that queue pairs to it use.
class PeerTable {
 public:
  PeerIndex add(std::unique_ptr<Peer> peer);
  void remove(PeerIndex index);

  [[nodiscard]] Peer& operator[](PeerIndex index) { return *peers_[index]; }
  [[nodiscard]] const Peer& operator[](PeerIndex index) const { return *peers_[index]; }
  [[nodiscard]] Peer* find(PeerIndex index) {
    return index < peers_.size() ? peers_[index].get() : nullptr;
  }
  [[nodiscard]] const Peer* find(PeerIndex index) const {
    return index < peers_.size() ? peers_[index].get() : nullptr;
  }
  [[nodiscard]] std::size_t size() const { return peers_.size(); }  // of numbers, free ones too

  // Calls `visit(PeerIndex, Peer&)` for each peer that has `address` in some plane, until it
  // returns false.
  template <class Visit>
  void visit_address(const wire::Ipv6Address& address, Visit&& visit) {
    if (slots_.empty()) return;
    for (std::size_t at = hash(address) & mask(); slots_[at] != kEmpty; at = (at + 1) & mask()) {
      if (slots_[at] == kRemoved) continue;
      const PeerIndex index = slots_[at] >> kPlaneBits;
      const std::uint32_t plane = slots_[at] & ((1u << kPlaneBits) - 1);
      if (peers_[index]->addresses[plane] != address) continue;
      if (!visit(index, *peers_[index])) return;
    }
  }

 private:
  // A peer's number, and the plane whose address it is entered for, in one word.
  using Slot = std::uint32_t;
  static constexpr unsigned kPlaneBits = 5;
  static_assert(kPlanesMax < (1u << kPlaneBits), "no slot looks like these two");
  static constexpr Slot kEmpty = 0xffffffff;
  static constexpr Slot kRemoved = 0xfffffffe;
  static Slot slot(PeerIndex index, std::size_t plane) {
    return index << kPlaneBits | static_cast<Slot>(plane);
  }

  static std::uint64_t hash(const wire::Ipv6Address& address);
  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  void enter(PeerIndex index);
  void make_room(std::size_t more);

  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<PeerIndex> free_;
  std::vector<Slot> slots_;     // hash table with linear probing, one entry for each address
  std::size_t used_slots_ = 0;  // removed ones too
};

}  // namespace openmrc::core
