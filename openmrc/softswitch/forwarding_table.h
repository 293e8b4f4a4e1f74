// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "openmrc/softswitch/address_key.h"
#include "openmrc/softswitch/counters.h"
#include "openmrc/softswitch/ip_packet.h"
#include "openmrc/softswitch/limits.h"
#include "openmrc/softswitch/prefix_table.h"
#include "openmrc/softswitch/settings.h"
#include "openmrc/wire/field/usid.h"

namespace openmrc::softswitch {

// By which port a packet leaves, and what becomes of its destination.
struct Hop {
  PortIndex port{};
  Rewrite rewrite = Rewrite::kNone;

  bool operator==(const Hop&) const = default;
};

// Where packets go. It does not change, and no packet takes longer than its tables are deep.
class ForwardingTable {
 public:
  // The settings have passed `check`. The seed makes switches in a row spread flows differently.
  ForwardingTable(const ForwardingSettings& settings, std::uint64_t seed);

  [[nodiscard]] Dropped find(const IpPacket& packet, Hop& hop) const;

 private:
  static constexpr PortIndex kNoPort{PortIndex::kMax};

  Dropped after_own_usid(const IpPacket& packet, const AddressKey& carrier, Hop& hop) const;
  Dropped after_last_usid(const IpPacket& packet, Hop& hop) const;
  Dropped towards(const IpPacket& packet, const AddressKey& destination, Hop& hop) const;
  Dropped by_usid(wire::Usid usid, Hop& hop) const;
  Dropped by_prefix(const IpPacket& packet, const AddressKey& destination, Hop& hop) const;

  std::uint64_t own_locator_;  // the block and the switch's own uSID; more than 48 bits: none
  std::uint32_t block_;
  std::uint64_t seed_;
  std::vector<PortIndex> port_of_usid_;  // for every uSID there can be
  PrefixTable prefixes_;
};

}  // namespace openmrc::softswitch
