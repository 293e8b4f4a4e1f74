// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/icrc.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "openmrc/base/check.h"
#include "openmrc/wire/bth.h"
#include "openmrc/wire/ipv4.h"
#include "openmrc/wire/ipv6.h"
#include "openmrc/wire/payload.h"
#include "openmrc/wire/udp.h"

namespace openmrc::wire {
namespace {

// CRC-32 of eight bytes of ones, which stand for the local route header that RoCEv2 does not have.
constexpr std::uint32_t kAfterRouteHeader = 0x2144df1c;

std::uint32_t crc32(std::uint32_t crc, ConstBytes bytes) {
  // ISA-L takes unsigned char; std::byte may alias it.
  return crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

// The headers whose fields may change, copied so that those fields can be set to ones.
constexpr std::size_t kMaskedMax = kIpv6Size + kUdpSize + kBthSize;

// As many header bytes as are copied along with the masked ones: one long run is cheaper than two.
constexpr std::size_t kScratchSize = 128;
static_assert(kScratchSize >= kMaskedMax);

template <class Field>
constexpr void set_ones(std::byte* header) {
  static_assert(Field::kOffset % 8 == 0 && Field::kWidth % 8 == 0);
  std::memset(header + Field::kOffset / 8, 0xff, Field::kWidth / 8);
}

std::size_t mask_ip(std::byte* ip) {
  if ((ip[0] >> 4) == std::byte{4}) {
    set_ones<Ipv4Layout::TrafficByte>(ip);
    set_ones<Ipv4Layout::TimeToLive>(ip);
    set_ones<Ipv4Layout::Checksum>(ip);
    return kIpv4Size;
  }
  // Traffic class and flow label: all of the first word but the version.
  store_be<std::uint32_t>(ip, 0x6fff'ffff);
  set_ones<Ipv6Layout::HopLimit>(ip);
  return kIpv6Size;
}

}  // namespace

Icrc::Icrc(ConstBytes headers) : crc_(kAfterRouteHeader) {
  std::array<std::byte, kScratchSize> scratch;
  const std::size_t copied = std::min(headers.size(), kScratchSize);
  OPENMRC_CHECK(copied >= kIpv4Size + kUdpSize + kBthSize, "no room for IP, UDP and BTH");
  std::memcpy(scratch.data(), headers.data(), copied);

  const std::size_t ip_size = mask_ip(scratch.data());
  OPENMRC_CHECK(copied >= ip_size + kUdpSize + kBthSize, "no room for IP, UDP and BTH");
  set_ones<UdpLayout::Checksum>(scratch.data() + ip_size);
  set_ones<BthLayout::VariantReserved>(scratch.data() + ip_size + kUdpSize);

  update({scratch.data(), copied});
  update(headers.subspan(copied));
}

void Icrc::update(ConstBytes bytes) {
  if (!bytes.empty()) crc_ = crc32(crc_, bytes);
}

std::uint32_t icrc_of(ConstBytes headers, std::span<const ConstBytes> payload_pieces) {
  constexpr std::array<std::byte, 3> kZeros{};
  Icrc icrc(headers);
  std::size_t payload_size = 0;
  for (const ConstBytes piece : payload_pieces) {
    icrc.update(piece);
    payload_size += piece.size();
  }
  icrc.update(ConstBytes(kZeros).first(pad_count(payload_size)));
  return icrc.value();
}

}  // namespace openmrc::wire
