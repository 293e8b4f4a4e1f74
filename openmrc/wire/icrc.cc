// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/icrc.h"

#include <isa-l/crc.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "openmrc/base/check.h"
#include "openmrc/wire/header/bth.h"
#include "openmrc/wire/header/ipv4.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/udp.h"
#include "openmrc/wire/payload.h"

namespace openmrc::wire {
namespace {

// ---- CRC-32 by ISA-L ----

#if defined(__x86_64__)
// ISA-L's AVX-512 code returns with the upper halves of the vector registers in use, and all SSE
// code after it then runs several times slower. This frees them.
[[gnu::target("avx")]] void free_upper_halves() { _mm256_zeroupper(); }
const bool kHasUpperHalves = __builtin_cpu_supports("avx") != 0;
#else
void free_upper_halves() {}
constexpr bool kHasUpperHalves = false;
#endif

std::uint32_t crc32(std::uint32_t crc, ConstBytes bytes) {
  // ISA-L takes unsigned char; std::byte may alias it.
  crc = crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  if (kHasUpperHalves) free_upper_halves();
  return crc;
}

// ---- Headers with their variant fields set to ones ----

// The CRC register after eight bytes of ones, which stand for the local route header that RoCEv2
// does not have.
constexpr std::uint32_t kAfterRouteHeader = 0xdebb20e3;

// What crc32 takes for "start with an empty register".
constexpr std::uint32_t kEmptyRegister = 0xffffffff;

using Vector [[gnu::vector_size(16)]] = std::uint32_t;
constexpr std::size_t kVector = sizeof(Vector);

// The headers are copied in front of the rest, because fields in them have to be set. The longest
// are IPv6, UDP, BTH, SETH and CC_STATE.
constexpr std::size_t kHeadMax = 128;
constexpr std::size_t kHeadMin = kIpv6Size + kUdpSize + kBthSize;

using Mask = std::array<std::byte, kHeadMax>;

template <class Field>
constexpr void set_ones(Mask& mask, std::size_t header_at) {
  for (std::size_t bit = Field::kOffset; bit < Field::kEnd; ++bit) {
    mask[header_at + bit / 8] |= static_cast<std::byte>(0x80 >> bit % 8);
  }
}

constexpr Mask kIpv6Mask = [] {
  Mask mask{};
  set_ones<Ipv6Layout::TrafficByte>(mask, 0);
  set_ones<Ipv6Layout::FlowLabel>(mask, 0);
  set_ones<Ipv6Layout::HopLimit>(mask, 0);
  set_ones<UdpLayout::Checksum>(mask, kIpv6Size);
  set_ones<BthLayout::VariantReserved>(mask, kIpv6Size + kUdpSize);
  return mask;
}();

constexpr Mask kIpv4Mask = [] {
  Mask mask{};
  set_ones<Ipv4Layout::TrafficByte>(mask, 0);
  set_ones<Ipv4Layout::TimeToLive>(mask, 0);
  set_ones<Ipv4Layout::Checksum>(mask, 0);
  set_ones<UdpLayout::Checksum>(mask, kIpv4Size);
  set_ones<BthLayout::VariantReserved>(mask, kIpv4Size + kUdpSize);
  return mask;
}();

// In the machine's order: bit patterns, not numbers.
std::uint32_t word_at(const std::byte* from) {
  std::uint32_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}
Vector vector_at(const std::byte* from) {
  Vector vector;
  std::memcpy(&vector, from, kVector);
  return vector;
}

// The head as whole vectors, with zeros in front: an empty register stays empty over zeros.
// Everything is written in whole vectors, as ISA-L will read it; a load that spans two stores would
// have to wait until the stores have left the core, and with them all packets before.
class Head {
 public:
  Head(ConstBytes head, const Mask& mask) {
    const std::size_t front = (kVector - head.size() % kVector) % kVector;
    vectors_[0] = first_vector(head, mask, front / 4);
    count_ = (front + head.size()) / kVector;
    for (std::size_t i = 1; i < count_; ++i) {
      const std::size_t at = i * kVector - front;
      vectors_[i] = vector_at(&head[at]) | vector_at(&mask[at]);
    }
  }

  [[nodiscard]] ConstBytes bytes() const {
    return std::as_bytes(std::span(vectors_)).first(count_ * kVector);
  }

 private:
  // The register before the head is put into its first word, which is the same as starting with it.
  static Vector first_vector(ConstBytes head, const Mask& mask, std::size_t zero_words) {
    const auto word = [&](std::size_t i) { return word_at(&head[4 * i]) | word_at(&mask[4 * i]); };
    const std::uint32_t first = word(0) ^ kRegister;
    switch (zero_words) {
      case 0: return Vector{first, word(1), word(2), word(3)};
      case 1: return Vector{0, first, word(1), word(2)};
      case 2: return Vector{0, 0, first, word(1)};
      default: return Vector{0, 0, 0, first};
    }
  }

  // The register's low byte meets the first byte, so in memory it lies in little-endian order.
  static constexpr std::uint32_t kRegister = std::endian::native == std::endian::little
                                                 ? kAfterRouteHeader
                                                 : std::byteswap(kAfterRouteHeader);

  std::array<Vector, kHeadMax / kVector> vectors_;
  std::size_t count_;
};

// How much of `bytes` to take as the head: all of it when it is just headers; of a whole packet, as
// much as leaves ISA-L whole blocks of 256 bytes, where that can be.
std::size_t head_size(std::size_t size) {
  constexpr std::size_t kBlock = 256;
  const std::size_t words = size & ~std::size_t{3};
  if (words <= kHeadMax) return words;
  const std::size_t over = words % kBlock;
  return over >= kHeadMin && over <= kHeadMax ? over : kHeadMax;
}

}  // namespace

Icrc::Icrc(ConstBytes headers) {
  const bool is_ipv4 = !headers.empty() && (headers[0] >> 4) == std::byte{4};
  const std::size_t least = (is_ipv4 ? kIpv4Size : kIpv6Size) + kUdpSize + kBthSize;
  OPENMRC_CHECK(headers.size() >= least, "there is no IP, UDP and BTH");
  const std::size_t size = head_size(headers.size());
  crc_ = crc32(kEmptyRegister, Head(headers.first(size), is_ipv4 ? kIpv4Mask : kIpv6Mask).bytes());
  update(headers.subspan(size));
}

void Icrc::update(ConstBytes bytes) {
  if (!bytes.empty()) crc_ = crc32(crc_, bytes);
}

std::uint32_t stored_icrc(ConstBytes packet) {
  const ConstBytes stored = packet.last(kIcrcSize);
  return std::byteswap(load_be<std::uint32_t>(stored.data()));
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
