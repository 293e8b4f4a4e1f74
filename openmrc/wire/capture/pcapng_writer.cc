// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/capture/pcapng_writer.h"

#include <algorithm>
#include <span>

#include "openmrc/base/check.h"
#include "openmrc/wire/capture/capture_reader.h"
#include "openmrc/wire/capture/pcapng_format.h"

namespace openmrc::wire {
namespace {

using pcapng::BlockType;
using pcapng::Option;

// Appends one block in little-endian order; its length, which stands at both ends, is filled in
// when the block is finished.
class Block {
 public:
  Block(std::vector<std::byte>& out, BlockType type) : out_(out), start_(out.size()) {
    u32(static_cast<std::uint32_t>(type));
    u32(0);
  }

  void u16(std::uint16_t value) { little_endian(value, 2); }
  void u32(std::uint32_t value) { little_endian(value, 4); }
  void padded(ConstBytes bytes) {
    out_.insert(out_.end(), bytes.begin(), bytes.end());
    out_.resize(start_ + pcapng::padded4(out_.size() - start_));
  }
  void option(Option code, ConstBytes value) {
    const ConstBytes fitting = value.first(std::min(value.size(), pcapng::kOptionLengthMax));
    u16(static_cast<std::uint16_t>(code));
    u16(static_cast<std::uint16_t>(fitting.size()));
    padded(fitting);
  }
  void option(Option code, std::string_view text) {
    if (!text.empty()) option(code, std::as_bytes(std::span(text)));
  }
  void finish() {
    const auto length = static_cast<std::uint32_t>(out_.size() - start_ + 4);
    for (unsigned i = 0; i < 4; ++i) {
      out_[start_ + 4 + i] = static_cast<std::byte>(length >> (8 * i) & 0xff);
    }
    u32(length);
  }

 private:
  void little_endian(std::uint32_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) {
      out_.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
    }
  }

  std::vector<std::byte>& out_;
  std::size_t start_;
};

constexpr std::uint32_t kUnknown = 0xffffffff;

}  // namespace

PcapngWriter::PcapngWriter(std::vector<std::byte>& out) : out_(out) {
  Block block(out_, BlockType::kSectionHeader);
  block.u32(pcapng::kByteOrderMagic);
  block.u16(1);  // version 1.0
  block.u16(0);
  block.u32(kUnknown);  // length of the section, 64 bits
  block.u32(kUnknown);
  block.option(Option::kApplication, "OpenMRC");
  block.option(Option::kEnd, ConstBytes());
  block.finish();
}

CaptureInterface PcapngWriter::add_interface(std::string_view name, std::string_view description) {
  Block block(out_, BlockType::kInterface);
  block.u16(static_cast<std::uint16_t>(LinkType::kEthernet));
  block.u16(0);
  block.u32(0);  // no limit on the length of a frame
  block.option(Option::kInterfaceName, name);
  block.option(Option::kInterfaceDescription, description);
  block.option(Option::kTimeResolution,
               std::as_bytes(std::span(&pcapng::kResolutionNanoseconds, 1)));
  block.option(Option::kEnd, ConstBytes());
  block.finish();
  return CaptureInterface(interfaces_++);
}

void PcapngWriter::add_frame(const Frame& frame) {
  OPENMRC_CHECK(frame.interface.raw() < interfaces_, "interface was not added to this capture");
  const auto time = static_cast<std::uint64_t>(frame.time.ns());
  const auto size = static_cast<std::uint32_t>(frame.bytes.size());
  Block block(out_, BlockType::kEnhancedPacket);
  block.u32(frame.interface.raw());
  block.u32(static_cast<std::uint32_t>(time >> 32));
  block.u32(static_cast<std::uint32_t>(time & 0xffffffff));
  block.u32(size);  // captured
  block.u32(size);  // on the wire
  block.padded(frame.bytes);
  block.option(Option::kComment, frame.comment);
  block.option(Option::kEnd, ConstBytes());
  block.finish();
}

}  // namespace openmrc::wire
