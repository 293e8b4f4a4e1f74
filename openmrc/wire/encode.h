// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "openmrc/base/bytes.h"
#include "openmrc/base/fixed_vector.h"
#include "openmrc/wire/header/bth.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/udp.h"
#include "openmrc/wire/packet.h"
#include "openmrc/wire/settings.h"

// Records to bytes. A packet goes out as three pieces, so that its payload is sent from where it
// lies: headers, payload, trailer.
namespace openmrc::wire {

inline constexpr std::size_t kTransportHeadersSizeMax = kBthSize + kSethSize + kCcStateSize;
inline constexpr std::size_t kHeadersSizeMax =
    kIpv6Size + kSrhSize + kIpv6Size + kUdpSize + kTransportHeadersSizeMax;
static_assert(kTransportHeadersSizeMax >=
              kBthSize + kMethSize + kTsethSize + kRethSize + kImmdtSize);
static_assert(kTransportHeadersSizeMax >= kBthSize + kEethSize);

// The longest payload whose packet an IP header can still state the length of.
inline constexpr std::size_t kPayloadSizeMax = 65535 - kHeadersSizeMax - 3 - kIcrcSize;

struct HeadersWritten {
  std::size_t size = 0;
  std::size_t covered_from = 0;  // where the IP header that the ICRC covers begins
};

// Writes all headers from the outermost IP header on. `out` holds at least kHeadersSizeMax bytes.
HeadersWritten encode_headers(const Packet& packet, const WireSettings& settings, MutableBytes out);

// Pad and ICRC: what stands behind the payload.
using Trailer = FixedVector<std::byte, 3 + kIcrcSize>;

// `covered`: the encoded headers from `covered_from` on.
Trailer make_trailer(ConstBytes covered, std::span<const ConstBytes> payload_pieces);

// The whole packet in one run of bytes, the payload copied; returns its size. For captures and
// tests; nothing on the data path needs it. `out` holds at least encoded_size(packet) bytes.
std::size_t encode_packet(const Packet& packet, const WireSettings& settings, MutableBytes out);
std::size_t encoded_size(const Packet& packet);

}  // namespace openmrc::wire
