// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "openmrc/base/bytes.h"
#include "openmrc/datapath/datapath.h"
#include "openmrc/datapath/open.h"
#include "openmrc/wire/encode.h"
#include "openmrc/wire/field/ip_address.h"
#include "openmrc/wire/header/ipv4.h"

namespace openmrc::datapath {

// How a packet is addressed to the kernel. Packets that agree in all of it can be one message.
struct Envelope {
  wire::Ipv6Address to{};  // mapped: over IPv4
  std::uint32_t flow_label = 0;
  wire::UdpPort udp_port{};
  std::uint16_t source_port = 0;
  std::uint8_t traffic_byte = 0;
  Plane plane{};

  bool operator==(const Envelope&) const = default;
};

// False if the packet's route is none that the mode can take.
[[nodiscard]] bool fill_envelope(const Outgoing& outgoing, const Settings& settings,
                                 Envelope& into);

// What stands behind the payload: padding and ICRC.
struct FrameTrailer {
  std::array<std::byte, 3 + wire::kIcrcSize> buffer;
  std::size_t size = 0;

  [[nodiscard]] ConstBytes bytes() const { return ConstBytes(buffer).first(size); }
};

// What the kernel is to send, in three pieces; the payload stays where it is.
struct Frame {
  std::array<std::byte, wire::kHeadersSizeMax> buffer;
  MutableBytes headers{};  // in `buffer`: those that the kernel does not write itself
  ConstBytes payload{};
  FrameTrailer trailer{};

  [[nodiscard]] std::size_t size() const { return headers.size() + payload.size() + trailer.size; }
};

// So many bytes in front of `headers` are free, unless whole packets are sent: the trailer of the
// frame before may be put there.
inline constexpr std::size_t kFreeInFront = wire::kIpv4Size + wire::kUdpSize;

// `outgoing` has an envelope.
void write_frame(const Outgoing& outgoing, const Settings& settings, Frame& into);

}  // namespace openmrc::datapath
