// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstdint>
#include <type_traits>
#include <variant>

#include "openmrc/base/ids.h"
#include "openmrc/base/picoseconds.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/wire/packet.h"

namespace openmrc::sim {

// Who is to make sense of a packet. What RoCEv2 sends fits the records of MRC: data is a WRITE, all
// answers are acknowledgements, a selective one is a SACK.
enum class PacketKind : std::uint8_t {
  kMrc,
  kRcData,
  kRcAck,
  kRcNak,         // out of sequence: go back
  kRcSelective,   // one has arrived ahead of others
  kRcCongestion,  // CNP: a marked packet has arrived
  kPause,         // PFC: to the port behind the link that it comes by
  kResume,
};

// The sender leaves it to the switches where a packet goes up.
inline constexpr std::uint16_t kAnyPath = 0xffff;

// What only the two hosts look at, and the T0 that sends it to another pod. It stays where the
// sender has put it until the packet arrives or is lost; then the place goes back to the worker
// that it was taken from.
struct Content {
  fabric::HostIndex from{};
  Ev ev{};
  wire::Body body{};  // payloads are lengths
  std::uint16_t owner = 0;
  std::uint16_t path = 0;  // fabric::PathChoice::path, or kAnyPath
};
static_assert(std::is_trivially_copyable_v<Content>, "it travels between processes as bytes");
static_assert(sizeof(Content) <= 88, "each packet on its way has one");

// Where and when a packet arrives, as one number that sorts: by the port of the node that it leaves
// by (or the host of the rack), then by time, then by the link that it comes by.
class ArrivalKey {
 public:
  constexpr ArrivalKey() = default;
  // `time` is counted from the begin of the window.
  constexpr ArrivalKey(std::uint16_t egress, Picoseconds time, std::uint16_t ingress)
      : key_(std::uint64_t{egress} << kEgressShift |
             static_cast<std::uint64_t>(time.raw()) << kIngressBits | ingress) {}

  [[nodiscard]] constexpr std::uint16_t egress() const {
    return static_cast<std::uint16_t>(key_ >> kEgressShift);
  }
  [[nodiscard]] constexpr std::uint16_t ingress() const {
    return static_cast<std::uint16_t>(key_ & ((1u << kIngressBits) - 1));
  }
  [[nodiscard]] constexpr Picoseconds time() const {
    return Picoseconds(static_cast<std::int64_t>(order() >> kIngressBits));
  }
  // Of packets for one port: by time, then by the link.
  [[nodiscard]] constexpr std::uint64_t order() const {
    return key_ & ((std::uint64_t{1} << kEgressShift) - 1);
  }
  constexpr auto operator<=>(const ArrivalKey&) const = default;

 private:
  static constexpr unsigned kIngressBits = 11;
  static constexpr unsigned kEgressShift = 64 - 11;
  std::uint64_t key_ = 0;
};

// A packet on its way to the next node. It is the event, too: one small record, copied from queue
// to queue, with what switches look at.
struct Packet {
  ArrivalKey key{};
  Content* content = nullptr;  // null: PFC has none
  fabric::HostIndex to{};
  std::uint16_t size = 0;  // bytes on the wire, with all that Ethernet adds
  Plane plane{};
  PacketKind kind : 4 = PacketKind::kMrc;
  bool is_data : 1 = false;  // goes into the data queue
  bool trimmable : 1 = false;
  bool ecn_capable : 1 = false;
  bool marked : 1 = false;
};
static_assert(std::is_trivially_copyable_v<Packet>);
static_assert(sizeof(Packet) == 24, "a packet is copied at each hop");

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

inline std::uint32_t payload_size(const Content& content) {
  const auto* write = std::get_if<wire::RdmaWrite>(&content.body);
  return write != nullptr ? write->payload.size() : 0;
}

}  // namespace openmrc::sim
