// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/offload.h"

#include <algorithm>
#include <vector>

#include "openmrc/wire/header/ethernet.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/udp.h"

namespace openmrc::lab {
namespace {

using Frame = std::span<std::byte>;

constexpr std::size_t kIpAt = wire::EthernetView::kSize;
constexpr std::size_t kIpLengthAt = kIpAt + 4;
constexpr std::size_t kAddressesAt = kIpAt + 8;
constexpr std::size_t kUdpAt = kIpAt + wire::kIpv6Size;
constexpr std::size_t kPayloadAt = kUdpAt + wire::kUdpSize;
constexpr std::size_t kUdpLengthAt = kUdpAt + 4;
constexpr std::size_t kUdpChecksumAt = kUdpAt + 6;
constexpr std::uint16_t kUdpProtocol = 17;

void put_u16(Frame frame, std::size_t at, std::size_t value) {
  frame[at] = static_cast<std::byte>(value >> 8 & 0xff);
  frame[at + 1] = static_cast<std::byte>(value & 0xff);
}

std::uint32_t sum_of_words(ConstBytes bytes, std::uint32_t sum = 0) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    sum += std::to_integer<std::uint32_t>(bytes[i]) << (i % 2 == 0 ? 8 : 0);
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

// 0 would mean that there is none.
void put_checksum(Frame frame, std::size_t at, std::uint32_t sum) {
  put_u16(frame, at, (sum ^ 0xffff) == 0 ? 0xffff : sum ^ 0xffff);
}

bool is_udp_burst(const Offload& offload, ConstBytes frame) {
  const bool is_burst = offload.gso_type == Offload::kUdpBurst && offload.gso_size > 0;
  // With nothing between IPv6 and UDP: the kernel makes no other bursts here.
  return is_burst && frame.size() > kPayloadAt && offload.csum_start == kUdpAt;
}

// Headers of a burst, in front of one of its datagrams.
void write_datagram(ConstBytes headers, ConstBytes payload, std::vector<std::byte>& out) {
  out.assign(headers.begin(), headers.end());
  out.insert(out.end(), payload.begin(), payload.end());
  const std::size_t length = wire::kUdpSize + payload.size();
  put_u16(out, kIpLengthAt, length);
  put_u16(out, kUdpLengthAt, length);
  put_u16(out, kUdpChecksumAt, 0);
  const ConstBytes bytes(out);
  const auto pseudo = static_cast<std::uint32_t>(kUdpProtocol + length);
  const std::uint32_t sum = sum_of_words(bytes.subspan(kAddressesAt), pseudo);
  put_checksum(out, kUdpChecksumAt, sum);
}

}  // namespace

void complete_checksum(const Offload& offload, std::span<std::byte> frame) {
  if ((offload.flags & Offload::kNeedsChecksum) == 0) return;
  const std::size_t start = offload.csum_start;
  const std::size_t place = start + offload.csum_offset;
  if (place + 2 > frame.size()) return;
  put_checksum(frame, place, sum_of_words(frame.subspan(start)));
}

void for_each_frame(const Offload& offload, std::span<std::byte> frame,
                    const std::function<void(ConstBytes)>& take) {
  if (!is_udp_burst(offload, frame)) {
    // A burst of TCP stays whole, as captures on any Linux host have it; its checksum is no one's.
    if (offload.gso_type == Offload::kNoBurst) complete_checksum(offload, frame);
    take(frame);
    return;
  }
  const ConstBytes headers = frame.first(kPayloadAt);
  ConstBytes rest = frame.subspan(kPayloadAt);
  std::vector<std::byte> datagram;
  while (!rest.empty()) {
    const std::size_t size = std::min<std::size_t>(rest.size(), offload.gso_size);
    write_datagram(headers, rest.first(size), datagram);
    take(datagram);
    rest = rest.subspan(size);
  }
}

}  // namespace openmrc::lab
