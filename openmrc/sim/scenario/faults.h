// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "openmrc/base/picoseconds.h"
#include "openmrc/fabric/fabric.h"

namespace openmrc::sim {

// Of a link that carries packets of every size.
inline constexpr std::uint16_t kAnyMtu = 0xffff;

// What a link is during a stretch of time. Links without an entry are whole.
struct LinkState {
  Picoseconds from{};
  bool up = true;
  std::uint32_t loss_per_billion = 0;  // of the packets that it carries
  std::uint16_t speed_percent = 100;   // of its rate
  std::uint16_t mtu = kAnyMtu;         // larger packets vanish

  bool operator==(const LinkState&) const = default;
};

// Which directions of a link a fault hits.
enum class Direction : std::uint8_t { kBoth, kUpward, kDownward };  // upward: away from the host

// A fault, with everything random about it already drawn: one link in one state for a while.
struct LinkFault {
  fabric::LinkId link{};
  Direction direction = Direction::kBoth;
  Picoseconds from{};
  Picoseconds to = kNoTime;
  bool down = false;
  std::uint32_t loss_per_billion = 0;
  std::uint16_t speed_percent = 100;
  std::uint16_t mtu = kAnyMtu;
  bool seen_by_nic = false;  // of a host's link: its NIC notices that it is down

  bool operator==(const LinkFault&) const = default;
};

}  // namespace openmrc::sim
