// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

// The numbers of the capture file formats that the writer and the reader share
// (draft-ietf-opsawg-pcapng, draft-ietf-opsawg-pcap).
namespace openmrc::wire::pcapng {

enum class BlockType : std::uint32_t {
  kSectionHeader = 0x0a0d0d0a,
  kInterface = 1,
  kSimplePacket = 3,
  kEnhancedPacket = 6,
};

enum class Option : std::uint16_t {
  kEnd = 0,
  kComment = 1,
  kInterfaceName = 2,
  kInterfaceDescription = 3,
  kApplication = 4,
  kTimeResolution = 9,
};

inline constexpr std::uint32_t kByteOrderMagic = 0x1a2b3c4d;
inline constexpr std::uint8_t kResolutionNanoseconds = 9;   // 10^-9 s
inline constexpr std::uint8_t kResolutionMicroseconds = 6;  // what counts when nothing is said
inline constexpr std::size_t kOptionLengthMax = 0xffff;

// A block is its type, its length, its body and its length again, all in multiples of 4 bytes.
inline constexpr std::size_t kBlockOverhead = 12;
constexpr std::size_t padded4(std::size_t size) { return (size + 3) & ~std::size_t{3}; }

}  // namespace openmrc::wire::pcapng
