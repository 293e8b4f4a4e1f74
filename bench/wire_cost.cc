// SPDX-License-Identifier: BSD-3-Clause
// The code whose instructions callgrind counts: see count_instructions.py. Each measured function
// does its work once and is called kRounds times; nothing else is counted. The ICRC is counted
// apart from the headers, and less what ISA-L takes for the same bytes.
#include <isa-l/crc.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "openmrc/base/check.h"
#include "openmrc/wire/decode.h"
#include "openmrc/wire/encode.h"
#include "openmrc/wire/icrc.h"

namespace {

using namespace openmrc;
using namespace openmrc::wire;

constexpr int kRounds = 1000;
constexpr WireSettings kNoIcrc{.icrc_check = IcrcCheck::kSkip};

constexpr Ipv6Route kPlainRoute{.source = Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 1}),
                                .destination = Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 2}),
                                .ev = Ev(0x00120034)};

// BTH + METH + TSETH + RETH and 4 KiB of payload.
Packet write_packet(const Ipv6Route& route, ConstBytes payload) {
  return {.route = route,
          .traffic_class = TrafficClass::kTrimmable,
          .ecn = Ecn::kCapable0,
          .transport = {.body = RdmaWrite{.destination_qp = Qpn(0x1234),
                                          .psn = Psn(77),
                                          .part = MessagePart::middle(),
                                          .meth = {.rqmsn = Rqmsn(1), .msn = Msn(2)},
                                          .sent = TxTimestamp{.ticks = 99},
                                          .reth = {.virtual_address = 0x7f0000001000,
                                                   .rkey = RKey(5),
                                                   .dma_length = 1u << 20},
                                          .payload = Payload::of_bytes(payload)}}};
}

Packet sack_packet() {
  return {.route = kPlainRoute,
          .transport = {.body = Sack{.destination_qp = Qpn(0x1234),
                                     .seth = {.cack_psn = Psn(77), .sack_bitmap = 0xf0f0}}}};
}

Ipv6Route srv6_route() {
  Ipv6Route route = kPlainRoute;
  route.encapsulation =
      SrEncapsulation{.source = route.source,
                      .destination = Ipv6Address::of({0xfcbb, 0xbb00, 1, 2, 0x102, 0, 0, 0})};
  return route;
}

}  // namespace

// Apart and by C names, so that callgrind can find them.
#define OPENMRC_MEASURED(what)                                             \
  extern "C" [[gnu::noinline]] Result<void, Reject> measured_decode##what( \
      const std::byte* bytes, std::size_t size, Packet* into) {            \
    return decode_ip_into({bytes, size}, kNoIcrc, *into);                  \
  }                                                                        \
  extern "C" [[gnu::noinline]] HeadersWritten measured_encode##what(       \
      const Packet* packet, std::byte* out, std::size_t size) {            \
    return encode_headers(*packet, kNoIcrc, {out, size});                  \
  }
OPENMRC_MEASURED()
OPENMRC_MEASURED(_sack)
OPENMRC_MEASURED(_srv6)

extern "C" [[gnu::noinline]] std::uint32_t measured_icrc(const std::byte* headers, std::size_t size,
                                                         const std::byte* payload,
                                                         std::size_t payload_size) {
  return icrc_of({headers, size}, std::array{ConstBytes{payload, payload_size}});
}
extern "C" [[gnu::noinline]] std::uint32_t measured_crc32(const std::byte* headers,
                                                          std::size_t size,
                                                          const std::byte* payload,
                                                          std::size_t payload_size) {
  const auto crc32 = [](std::uint32_t crc, const std::byte* bytes, std::size_t count) {
    return crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(bytes), count);
  };
  return crc32(crc32(0, headers, size), payload, payload_size);
}

namespace {

template <class Decode, class Encode>
void measure(const Packet& packet, Decode decode, Encode encode) {
  std::vector<std::byte> bytes(encoded_size(packet));
  encode_packet(packet, kNoIcrc, bytes);
  Packet decoded = packet;
  for (int i = 0; i < kRounds; ++i) {
    OPENMRC_CHECK(decode(bytes.data(), bytes.size(), &decoded).has_value(), "it decodes");
  }
  std::array<std::byte, kHeadersSizeMax> out;
  HeadersWritten written;
  for (int i = 0; i < kRounds; ++i) written = encode(&decoded, out.data(), out.size());
  OPENMRC_CHECK(std::memcmp(out.data(), bytes.data(), written.size) == 0,
                "it comes back as it was");
}

void measure_icrc(const Packet& packet, ConstBytes payload) {
  std::array<std::byte, kHeadersSizeMax> headers;
  const std::size_t size = encode_headers(packet, kNoIcrc, headers).size;
  std::uint32_t sum = 0;
  for (int i = 0; i < kRounds; ++i) {
    sum += measured_icrc(headers.data(), size, payload.data(), payload.size());
    sum += measured_crc32(headers.data(), size, payload.data(), payload.size());
  }
  OPENMRC_CHECK(sum != 0, "the sums are used");
}

}  // namespace

int main() {
  const std::vector<std::byte> payload(4096);
  measure(write_packet(kPlainRoute, payload), measured_decode, measured_encode);
  measure(sack_packet(), measured_decode_sack, measured_encode_sack);
  measure(write_packet(srv6_route(), payload), measured_decode_srv6, measured_encode_srv6);
  measure_icrc(write_packet(kPlainRoute, payload), payload);
  return 0;
}
