// SPDX-License-Identifier: BSD-3-Clause
// The code whose instructions callgrind counts: see bench/count_instructions. Each measured
// function does its work once; the program calls it kRounds times, and nothing else is counted.
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "openmrc/wire/decode.h"
#include "openmrc/wire/encode.h"

namespace {

using namespace openmrc;
using namespace openmrc::wire;

constexpr int kRounds = 1000;
constexpr WireSettings kNoIcrc{.icrc_check = IcrcCheck::kSkip};

// IPv6 + UDP + BTH + METH + TSETH + RETH.
Packet write_packet(ConstBytes payload) {
  return {.route = Ipv6Route{.source = Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 1}),
                             .destination = Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 2}),
                             .ev = Ev(0x00120034),
                             .encapsulation = std::nullopt},
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

}  // namespace

extern "C" {

[[gnu::noinline]] std::optional<Reject> measured_decode(const std::byte* bytes, std::size_t size,
                                                        Packet* into) {
  return decode_ip_into({bytes, size}, kNoIcrc, *into);
}

[[gnu::noinline]] HeadersWritten measured_encode(const Packet* packet, std::byte* out,
                                                 std::size_t size) {
  return encode_headers(*packet, kNoIcrc, {out, size});
}

}  // extern "C"

int main() {
  const std::vector<std::byte> payload(4096);
  const Packet packet = write_packet(payload);
  std::vector<std::byte> bytes(encoded_size(packet));
  encode_packet(packet, kNoIcrc, bytes);

  Packet decoded;
  for (int i = 0; i < kRounds; ++i) {
    if (measured_decode(bytes.data(), bytes.size(), &decoded)) std::abort();
  }
  if (std::get<RdmaWrite>(decoded.transport.body).psn != Psn(77)) std::abort();

  std::array<std::byte, kHeadersSizeMax> out;
  HeadersWritten written;
  for (int i = 0; i < kRounds; ++i) written = measured_encode(&packet, out.data(), out.size());
  if (written.size != 84 || std::memcmp(out.data(), bytes.data(), written.size) != 0) std::abort();
  return 0;
}
