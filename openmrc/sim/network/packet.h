// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

#include "openmrc/base/ids.h"
#include "openmrc/base/picoseconds.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/wire/packet.h"

namespace openmrc::sim {

// Who is to make sense of a packet. What RoCEv2 sends fits the records of MRC: data is a WRITE, all
// answers are acknowledgements.
enum class PacketKind : std::uint8_t {
  kMrc,
  kRcData,
  kRcAck,
  kRcNak,         // out of sequence: go back
  kRcCongestion,  // CNP: a marked packet has arrived
  kPause,         // PFC: to the port behind the link that it comes by
  kResume,
};

// A packet on its way to the next node. It is the event, too: one record, copied from queue to
// queue, with nothing on the heap. Payloads are lengths.
struct Packet {
  Picoseconds at{};           // its last bit arrives
  std::uint16_t egress = 0;   // at the next node: port of the switch, or host of the rack
  std::uint16_t ingress = 0;  // the link that it comes by, of that node
  fabric::HostIndex to{};
  wire::Body body{};
  fabric::HostIndex from{};
  Ev ev{};
  std::uint16_t uplink = 0;  // of the sender's T0, if it has to go further
  std::uint16_t size = 0;    // bytes on the wire, with all that Ethernet adds
  Plane plane{};
  PacketKind kind = PacketKind::kMrc;
  bool is_data : 1 = false;  // goes into the data queue
  bool trimmable : 1 = false;
  bool ecn_capable : 1 = false;
  bool marked : 1 = false;
};
static_assert(std::is_trivially_copyable_v<Packet>, "packets travel as bytes");
static_assert(sizeof(Packet) <= 112, "a packet is copied at each hop");

// PFC's own, between two ports; not counted as packets. They come by no link of the node that has
// data, so that nothing comes at the same time by the same way.
inline constexpr std::uint16_t kPauseIngress = 0x7ff;
constexpr bool is_pause(const Packet& packet) {
  return packet.kind == PacketKind::kPause || packet.kind == PacketKind::kResume;
}

// Preamble, addresses, type, check sum and gap.
inline constexpr std::uint32_t kEthernetOverhead = 8 + 14 + 4 + 12;

// What it takes of a buffer: Ethernet's part stays on the wire.
inline std::uint32_t buffered_size(const Packet& packet) { return packet.size - kEthernetOverhead; }

inline std::uint32_t payload_size(const Packet& packet) {
  const auto* write = std::get_if<wire::RdmaWrite>(&packet.body);
  return write != nullptr ? write->payload.size() : 0;
}

}  // namespace openmrc::sim
