// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/capture/capture_reader.h"

#include <algorithm>
#include <bit>

#include "openmrc/wire/capture/pcapng_format.h"
#include "openmrc/wire/field/byte_order.h"

namespace openmrc::wire {
namespace {

using pcapng::BlockType;
using pcapng::Option;

__extension__ using Uint128 = unsigned __int128;

constexpr std::uint32_t kPcapMagicMicroseconds = 0xa1b2c3d4;
constexpr std::uint32_t kPcapMagicNanoseconds = 0xa1b23c4d;
constexpr std::size_t kPcapHeaderSize = 24;
constexpr std::size_t kPcapRecordSize = 16;

// Far more than any host has; a file that describes more is out to use up memory.
constexpr std::size_t kInterfacesMax = 4096;

constexpr std::size_t kSectionBodyMin = 16;
constexpr std::size_t kInterfaceBodyMin = 8;
constexpr std::size_t kPacketBodyMin = 20;

constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;

std::uint64_t power_of_ten(unsigned exponent) {
  std::uint64_t result = 1;
  while (exponent-- > 0) result *= 10;
  return result;
}

// A resolution is a negative power of ten, or of two if its highest bit is set.
Instant to_instant(std::uint64_t ticks, std::uint8_t resolution) {
  const unsigned exponent = resolution & 0x7f;
  Uint128 ns = 0;
  if ((resolution & 0x80) != 0) {
    if (exponent < 64) ns = Uint128{ticks} * kNanosecondsPerSecond >> exponent;
  } else if (exponent <= 9) {
    ns = Uint128{ticks} * power_of_ten(9 - exponent);
  } else if (exponent <= 19) {
    ns = ticks / power_of_ten(exponent - 9);
  }
  return Instant(static_cast<std::int64_t>(static_cast<std::uint64_t>(ns)));
}

std::string_view text_of(ConstBytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

// A pcapng block without its frame of type and lengths.
struct CaptureReader::Block {
  BlockType type;
  ConstBytes body;
};

Result<CaptureReader, CaptureProblem> CaptureReader::open(ConstBytes file) {
  if (file.size() < 4) return failure(CaptureProblem{CaptureError::kNotACapture});
  const auto magic = load_be<std::uint32_t>(file.data());
  if (magic == static_cast<std::uint32_t>(BlockType::kSectionHeader)) {
    return CaptureReader(file, Format::kPcapng);
  }
  CaptureReader reader(file, Format::kPcap);
  if (const Outcome read = reader.read_pcap_header(); !read) return failure(read.error());
  return reader;
}

Result<std::optional<CapturedFrame>, CaptureProblem> CaptureReader::next() {
  return format_ == Format::kPcapng ? next_pcapng() : next_pcap();
}

CaptureReader::Outcome CaptureReader::read_pcap_header() {
  const auto magic = load_be<std::uint32_t>(file_.data());
  const auto is = [magic](std::uint32_t wanted) {
    return magic == wanted || magic == std::byteswap(wanted);
  };
  if (!is(kPcapMagicMicroseconds) && !is(kPcapMagicNanoseconds)) {
    return failure(problem(CaptureError::kNotACapture));
  }
  if (file_.size() < kPcapHeaderSize) return failure(problem(CaptureError::kHeaderTruncated));
  big_endian_ = magic == kPcapMagicMicroseconds || magic == kPcapMagicNanoseconds;
  if (u16(file_, 4) != 2) return failure(problem(CaptureError::kVersionUnknown));
  interfaces_.push_back({.link_type = static_cast<LinkType>(u32(file_, 20) & 0xffff),
                         .time_resolution = is(kPcapMagicNanoseconds)
                                                ? pcapng::kResolutionNanoseconds
                                                : pcapng::kResolutionMicroseconds,
                         .name = {}});
  at_ = kPcapHeaderSize;
  return {};
}

Result<std::optional<CapturedFrame>, CaptureProblem> CaptureReader::next_pcap() {
  const ConstBytes rest = file_.subspan(at_);
  if (rest.empty()) return std::nullopt;
  if (rest.size() < kPcapRecordSize) return failure(problem(CaptureError::kBlockTruncated));
  const std::size_t size = u32(rest, 8);
  if (size > rest.size() - kPcapRecordSize) return failure(problem(CaptureError::kBlockTruncated));
  const Interface& interface = interfaces_.front();
  const Instant seconds = to_instant(u32(rest, 0), 0);
  const Instant fraction = to_instant(u32(rest, 4), interface.time_resolution);
  at_ += kPcapRecordSize + size;
  return CapturedFrame{.bytes = rest.subspan(kPcapRecordSize, size),
                       .original_size = u32(rest, 12),
                       .time = seconds + (fraction - Instant{}),
                       .link_type = interface.link_type,
                       .interface = 0,
                       .interface_name = {},
                       .comment = {}};
}

Result<std::optional<CapturedFrame>, CaptureProblem> CaptureReader::next_pcapng() {
  while (at_ < file_.size()) {
    const auto block = take_block();
    if (!block) return failure(block.error());
    Outcome outcome;
    switch (block->type) {
      case BlockType::kSectionHeader: outcome = start_section(*block); break;
      case BlockType::kInterface: outcome = add_interface(*block); break;
      case BlockType::kEnhancedPacket:
      case BlockType::kSimplePacket: {
        const auto frame = read_packet(*block);
        if (!frame) return failure(frame.error());
        return *frame;
      }
      default: break;  // names, statistics, secrets: nothing that a frame needs
    }
    if (!outcome) return failure(outcome.error());
  }
  return std::nullopt;
}

Result<CaptureReader::Block, CaptureProblem> CaptureReader::take_block() {
  const ConstBytes rest = file_.subspan(at_);
  if (rest.size() < pcapng::kBlockOverhead) return failure(problem(CaptureError::kBlockTruncated));
  // The type of a section header reads the same in both byte orders; what follows says which it is.
  const auto raw_type = load_be<std::uint32_t>(rest.data());
  if (raw_type == static_cast<std::uint32_t>(BlockType::kSectionHeader)) {
    const auto magic = load_be<std::uint32_t>(rest.data() + 8);
    if (magic != pcapng::kByteOrderMagic && magic != std::byteswap(pcapng::kByteOrderMagic)) {
      return failure(problem(CaptureError::kByteOrder));
    }
    big_endian_ = magic == pcapng::kByteOrderMagic;
  }
  const std::size_t length = u32(rest, 4);
  if (length < pcapng::kBlockOverhead || length % 4 != 0) {
    return failure(problem(CaptureError::kBlockLength));
  }
  if (length > rest.size()) return failure(problem(CaptureError::kBlockTruncated));
  if (u32(rest, length - 4) != length) return failure(problem(CaptureError::kBlockLength));
  const Block block{static_cast<BlockType>(u32(rest, 0)),
                    rest.subspan(8, length - pcapng::kBlockOverhead)};
  at_ += length;
  return block;
}

CaptureReader::Outcome CaptureReader::start_section(const Block& block) {
  if (block.body.size() < kSectionBodyMin) return failure(problem(CaptureError::kBlockLength));
  if (u16(block.body, 4) != 1) return failure(problem(CaptureError::kVersionUnknown));
  interfaces_.clear();
  return {};
}

CaptureReader::Outcome CaptureReader::add_interface(const Block& block) {
  if (block.body.size() < kInterfaceBodyMin) return failure(problem(CaptureError::kBlockLength));
  if (interfaces_.size() == kInterfacesMax) {
    return failure(problem(CaptureError::kTooManyInterfaces));
  }
  const ConstBytes options = block.body.subspan(kInterfaceBodyMin);
  const auto resolution = find_option(options, static_cast<std::uint16_t>(Option::kTimeResolution));
  interfaces_.push_back(
      {.link_type = static_cast<LinkType>(u16(block.body, 0)),
       .time_resolution = resolution.empty() ? pcapng::kResolutionMicroseconds
                                             : static_cast<std::uint8_t>(resolution.front()),
       .name = find_option(options, static_cast<std::uint16_t>(Option::kInterfaceName))});
  return {};
}

Result<CapturedFrame, CaptureProblem> CaptureReader::read_packet(const Block& block) const {
  const ConstBytes body = block.body;
  if (block.type == BlockType::kSimplePacket) {
    if (interfaces_.empty()) return failure(problem(CaptureError::kInterfaceUnknown));
    if (body.size() < 4) return failure(problem(CaptureError::kBlockLength));
    const std::uint32_t original = u32(body, 0);
    return CapturedFrame{.bytes = body.subspan(4, std::min<std::size_t>(original, body.size() - 4)),
                         .original_size = original,
                         .time = Instant(0),
                         .link_type = interfaces_.front().link_type,
                         .interface = 0,
                         .interface_name = interfaces_.front().name,
                         .comment = {}};
  }
  if (body.size() < kPacketBodyMin) return failure(problem(CaptureError::kBlockLength));
  const std::uint32_t index = u32(body, 0);
  if (index >= interfaces_.size()) return failure(problem(CaptureError::kInterfaceUnknown));
  const std::size_t size = u32(body, 12);
  if (size > body.size() - kPacketBodyMin) return failure(problem(CaptureError::kPacketLength));
  const std::size_t options_at = std::min(body.size(), kPacketBodyMin + pcapng::padded4(size));
  const std::uint64_t ticks = std::uint64_t{u32(body, 4)} << 32 | u32(body, 8);
  const Interface& interface = interfaces_[index];
  return CapturedFrame{.bytes = body.subspan(kPacketBodyMin, size),
                       .original_size = u32(body, 16),
                       .time = to_instant(ticks, interface.time_resolution),
                       .link_type = interface.link_type,
                       .interface = index,
                       .interface_name = interface.name,
                       .comment = find_option(body.subspan(options_at),
                                              static_cast<std::uint16_t>(Option::kComment))};
}

// The first option of the kind; empty if there is none. Options are extras: where they are broken,
// they are not there.
std::string_view CaptureReader::find_option(ConstBytes options, std::uint16_t wanted) const {
  while (options.size() >= 4) {
    const std::uint16_t code = u16(options, 0);
    const std::size_t size = u16(options, 2);
    if (code == static_cast<std::uint16_t>(Option::kEnd) || size > options.size() - 4) return {};
    if (code == wanted) return text_of(options.subspan(4, size));
    options = options.subspan(std::min(options.size(), 4 + pcapng::padded4(size)));
  }
  return {};
}

std::uint16_t CaptureReader::u16(ConstBytes bytes, std::size_t at) const {
  const auto value = load_be<std::uint16_t>(bytes.subspan(at, 2).data());
  return big_endian_ ? value : std::byteswap(value);
}

std::uint32_t CaptureReader::u32(ConstBytes bytes, std::size_t at) const {
  const auto value = load_be<std::uint32_t>(bytes.subspan(at, 4).data());
  return big_endian_ ? value : std::byteswap(value);
}

}  // namespace openmrc::wire
