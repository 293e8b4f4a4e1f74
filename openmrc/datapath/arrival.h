// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "openmrc/base/bytes.h"
#include "openmrc/base/result.h"
#include "openmrc/wire/field/reject.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/udp.h"
#include "openmrc/wire/packet.h"
#include "openmrc/wire/settings.h"

namespace openmrc::datapath {

inline constexpr std::uint32_t kFlowLabelMax = 0xfffff;

// What a UDP socket reports of a datagram besides its bytes: what stood in the IP and UDP headers.
// Addresses of IPv4 are mapped, and there is no flow label.
struct Arrival {
  wire::Ipv6Address source{};
  wire::Ipv6Address destination{};
  std::uint32_t flow_label = 0;  // at most kFlowLabelMax
  std::uint16_t source_port = 0;
  std::uint8_t traffic_byte = 0;

  bool operator==(const Arrival&) const = default;
};

struct Message {
  Arrival arrival{};
  // The kernel may have joined several datagrams: each is this long, the last may be shorter. 0: it
  // is one.
  std::size_t segment_size = 0;
};

// What recvmsg has filled in. Nothing if something of it is missing.
std::optional<Message> read_message(const msghdr& message);

// How many bytes in front of a datagram `decode_in_place` needs. The headers of IPv4 are shorter.
inline constexpr std::size_t kRoomInFront = wire::kIpv6Size + wire::kUdpSize;

// The headers that the kernel has taken off a datagram, made anew.
class TakenHeaders {
 public:
  TakenHeaders() = default;
  // For a datagram of `size` bytes; `port` is where it arrived.
  TakenHeaders(const Arrival& arrival, std::size_t size, wire::UdpPort port);

  // Of the datagram they are for.
  [[nodiscard]] std::size_t size() const { return size_; }
  // The headers are the last of these bytes, from `first()` on.
  [[nodiscard]] const std::array<std::byte, kRoomInFront>& bytes() const { return bytes_; }
  [[nodiscard]] std::size_t first() const { return first_; }

 private:
  std::array<std::byte, kRoomInFront> bytes_{};
  std::size_t size_ = 0;
  std::size_t first_ = 0;
};

// Decodes the datagram that lies at `at` in `buffer`, behind kRoomInFront other bytes or more. Its
// headers are put back in front of it, so that the packet is decoded, and its ICRC checked, as it
// was on the wire; then what lay there is put back in turn. The packet's payload refers to
// `buffer`.
[[nodiscard]] Result<void, wire::Reject> decode_in_place(const TakenHeaders& headers,
                                                         MutableBytes buffer, std::size_t at,
                                                         const wire::WireSettings& settings,
                                                         wire::Packet& into);

}  // namespace openmrc::datapath
