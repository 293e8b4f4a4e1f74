// SPDX-License-Identifier: BSD-3-Clause
// Feeds bytes to everything that reads packets. The first byte chooses the entrance, the rest is
// the packet. Besides not crashing: whatever decodes can be encoded, and then decodes to itself.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fuzz/fuzz_check.h"
#include "openmrc/wire/capture/dissection.h"
#include "openmrc/wire/decode.h"
#include "openmrc/wire/encode.h"
#include "openmrc/wire/trim.h"
#include "tests/support/arbitrary_packet.h"

namespace {

using namespace openmrc;
using namespace openmrc::wire;

// Fuzzers cannot find a CRC; without the check they get past it.
constexpr WireSettings kNoIcrc{.udp_port_alternate = kUdpPortAlternate,
                               .icrc_check = IcrcCheck::kSkip};
constexpr WireSettings kWithIcrc{.udp_port_alternate = kUdpPortAlternate};

void decode_and_back(ConstBytes bytes) {
  const auto packet = decode_ip(bytes, kNoIcrc);
  if (!packet) {
    FUZZ_CHECK(!describe(packet.error()).text.empty());
    FUZZ_CHECK(!decode_ip(bytes, kWithIcrc));
    return;
  }
  // Longer than an IP header can state, once reserved bytes are given their full size again.
  if (encoded_size(*packet) > 0xffff) return;
  std::vector<std::byte> again(encoded_size(*packet));
  encode_packet(*packet, kNoIcrc, again);
  const auto same = decode_ip(again, kWithIcrc);
  FUZZ_CHECK(same.has_value());
  FUZZ_CHECK(test::same_packet(*packet, *same));
}

void trim_and_decode(std::vector<std::byte> bytes) {
  const auto size = trim_packet(bytes, TrimPlace::kLastHop, kNoIcrc.dscp);
  if (!size) return;
  FUZZ_CHECK(*size <= bytes.size());
  bytes.resize(*size);
  const auto trimmed = decode_ip(bytes, kNoIcrc);
  if (trimmed) FUZZ_CHECK(std::holds_alternative<TrimmedWrite>(trimmed->transport.body));
}

void build_and_decode(ConstBytes bytes) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    numbers.push_back(load_be<std::uint64_t>(bytes.subspan(at, 8).data()));
  }
  test::Choices choices(numbers);
  const Packet packet = test::arbitrary_packet(choices);
  std::vector<std::byte> encoded(encoded_size(packet));
  encode_packet(packet, kWithIcrc, encoded);
  const auto decoded = decode_ip(encoded, kWithIcrc);
  FUZZ_CHECK(decoded.has_value());
  FUZZ_CHECK(test::same_packet(packet, *decoded));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // A copy of exactly this size, so that the sanitizer sees every read past its end.
  const auto raw = std::as_bytes(std::span(data + 1, size - 1));
  const std::vector<std::byte> bytes(raw.begin(), raw.end());
  switch (data[0] % 6) {
    case 0: decode_and_back(bytes); break;
    case 1: static_cast<void>(decode_frame(bytes, kWithIcrc)); break;
    case 2: static_cast<void>(decode_transport(bytes, std::nullopt)); break;
    case 3: static_cast<void>(decode_transport(bytes, TrimPlace::kOnPath)); break;
    case 4: trim_and_decode(bytes); break;
    default: build_and_decode(bytes); break;
  }
  static_cast<void>(dissect(bytes, LinkType::kRawIp, kNoIcrc));
  return 0;
}
