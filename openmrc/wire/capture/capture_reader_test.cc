// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/capture/capture_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "openmrc/wire/capture/pcapng_writer.h"

namespace openmrc::wire {
namespace {

using Bytes = std::vector<std::byte>;

// Builds capture files by hand, in either byte order.
class FileBuilder {
 public:
  explicit FileBuilder(bool big_endian) : big_endian_(big_endian) {}

  FileBuilder& u16(std::uint16_t value) { return number(value, 2); }
  FileBuilder& u32(std::uint32_t value) { return number(value, 4); }
  FileBuilder& bytes(const Bytes& more) {
    file_.insert(file_.end(), more.begin(), more.end());
    return *this;
  }
  // A pcapng block around `body`.
  FileBuilder& block(std::uint32_t type, const FileBuilder& body) {
    const auto length = static_cast<std::uint32_t>(body.file_.size() + 12);
    return u32(type).u32(length).bytes(body.file_).u32(length);
  }
  FileBuilder& section() {
    return block(0x0a0d0d0a,
                 FileBuilder(big_endian_).u32(0x1a2b3c4d).u16(1).u16(0).u32(~0u).u32(~0u));
  }
  FileBuilder& interface(std::uint16_t link_type) {
    return block(1, FileBuilder(big_endian_).u16(link_type).u16(0).u32(0));
  }
  FileBuilder& interface(std::uint16_t link_type, std::uint8_t resolution) {
    const Bytes option{std::byte{resolution}, std::byte{0}, std::byte{0}, std::byte{0}};
    return block(
        1,
        FileBuilder(big_endian_).u16(link_type).u16(0).u32(0).u16(9).u16(1).bytes(option).u32(0));
  }
  // A packet of four bytes.
  FileBuilder& packet(std::uint32_t interface_index, std::uint64_t ticks) {
    return block(6, FileBuilder(big_endian_)
                        .u32(interface_index)
                        .u32(static_cast<std::uint32_t>(ticks >> 32))
                        .u32(static_cast<std::uint32_t>(ticks))
                        .u32(4)
                        .u32(60)
                        .u32(0x01020304));
  }
  [[nodiscard]] const Bytes& file() const { return file_; }

 private:
  FileBuilder& number(std::uint32_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) {
      const unsigned shift = 8 * (big_endian_ ? size - 1 - i : i);
      file_.push_back(static_cast<std::byte>(value >> shift & 0xff));
    }
    return *this;
  }

  bool big_endian_;
  Bytes file_;
};

// All frames, or the problem that ended the reading.
struct ReadResult {
  std::vector<CapturedFrame> frames;
  std::optional<CaptureProblem> problem;
};

ReadResult read(const Bytes& file) {
  ReadResult result;
  auto reader = CaptureReader::open(file);
  if (!reader) {
    result.problem = reader.error();
    return result;
  }
  for (;;) {
    const auto frame = reader->next();
    if (!frame) {
      result.problem = frame.error();
      return result;
    }
    if (!*frame) return result;
    result.frames.push_back(**frame);
  }
}

CaptureError error_of(const Bytes& file) {
  const ReadResult result = read(file);
  EXPECT_TRUE(result.problem.has_value());
  return result.problem ? result.problem->error : CaptureError{};
}

TEST(CaptureReader, ReadsWhatTheWriterWrote) {
  Bytes file;
  PcapngWriter writer(file);
  const CaptureInterface first = writer.add_interface("plane0", "port 1");
  const CaptureInterface second = writer.add_interface("plane1", "");
  const Bytes frame{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
  writer.add_frame({.interface = second,
                    .time = Instant(1'700'000'000'123'456'789),
                    .bytes = frame,
                    .comment = "odd length"});
  writer.add_frame({.interface = first, .time = Instant(5), .bytes = Bytes{}});

  const ReadResult result = read(file);
  ASSERT_FALSE(result.problem);
  ASSERT_EQ(result.frames.size(), 2u);
  const CapturedFrame& seen = result.frames[0];
  EXPECT_TRUE(std::ranges::equal(seen.bytes, frame));
  EXPECT_EQ(seen.original_size, 5u);
  EXPECT_EQ(seen.time, Instant(1'700'000'000'123'456'789));
  EXPECT_EQ(seen.link_type, LinkType::kEthernet);
  EXPECT_EQ(seen.interface, 1u);
  EXPECT_EQ(seen.interface_name, "plane1");
  EXPECT_EQ(seen.comment, "odd length");
  EXPECT_TRUE(result.frames[1].bytes.empty());
  EXPECT_EQ(result.frames[1].interface_name, "plane0");
}

TEST(CaptureReader, ReadsPcapngOfBothByteOrders) {
  for (const bool big_endian : {false, true}) {
    const ReadResult result =
        read(FileBuilder(big_endian).section().interface(101).packet(0, 1'000'001).file());
    ASSERT_FALSE(result.problem) << big_endian;
    ASSERT_EQ(result.frames.size(), 1u);
    EXPECT_EQ(result.frames[0].link_type, LinkType::kRawIp);
    EXPECT_EQ(result.frames[0].bytes.size(), 4u);
    EXPECT_EQ(result.frames[0].original_size, 60u);
    EXPECT_EQ(result.frames[0].time, Instant(1'000'001'000)) << "microseconds if nothing is said";
  }
}

TEST(CaptureReader, TimesComeInPowersOfTenAndOfTwo) {
  const auto time = [](std::uint8_t resolution, std::uint64_t ticks) {
    return read(FileBuilder(false).section().interface(1, resolution).packet(0, ticks).file())
        .frames.at(0)
        .time;
  };
  EXPECT_EQ(time(0, 3), Instant(3'000'000'000));
  EXPECT_EQ(time(9, 1'234), Instant(1'234));
  EXPECT_EQ(time(12, 5'000), Instant(5));
  EXPECT_EQ(time(0x80 | 10, 1'024), Instant(1'000'000'000));
  EXPECT_EQ(time(0x80 | 1, 3), Instant(1'500'000'000));
  EXPECT_EQ(time(127, 77), Instant(0)) << "finer than anything that can be counted";
}

TEST(CaptureReader, ReadsPcapOfBothByteOrdersAndUnits) {
  for (const bool big_endian : {false, true}) {
    for (const std::uint32_t magic : {0xa1b2c3d4u, 0xa1b23c4du}) {
      FileBuilder file(big_endian);
      file.u32(magic).u16(2).u16(4).u32(0).u32(0).u32(65'535).u32(1);
      file.u32(10).u32(7).u32(4).u32(90).u32(0x01020304);
      const ReadResult result = read(file.file());
      ASSERT_FALSE(result.problem);
      ASSERT_EQ(result.frames.size(), 1u);
      const std::int64_t unit = magic == 0xa1b2c3d4u ? 1'000 : 1;
      EXPECT_EQ(result.frames[0].time, Instant(10'000'000'000 + 7 * unit));
      EXPECT_EQ(result.frames[0].original_size, 90u);
    }
  }
}

TEST(CaptureReader, ASecondSectionStartsAnew) {
  FileBuilder file(false);
  file.section().interface(1).packet(0, 1).section();
  EXPECT_EQ(read(file.file()).frames.size(), 1u);
  EXPECT_EQ(error_of(file.packet(0, 2).file()), CaptureError::kInterfaceUnknown);
}

TEST(CaptureReader, PassesOverBlocksItDoesNotKnow) {
  FileBuilder file(false);
  file.section().block(0x0bad, FileBuilder(false).u32(1)).interface(1).packet(0, 1);
  EXPECT_EQ(read(file.file()).frames.size(), 1u);
}

TEST(CaptureReader, ReadsSimplePackets) {
  FileBuilder file(false);
  file.section().interface(1).block(3, FileBuilder(false).u32(3).u32(0x00030201));
  const ReadResult result = read(file.file());
  ASSERT_EQ(result.frames.size(), 1u);
  EXPECT_EQ(result.frames[0].bytes.size(), 3u);
}

TEST(CaptureReader, NamesWhatIsWrong) {
  EXPECT_EQ(error_of({}), CaptureError::kNotACapture);
  EXPECT_EQ(error_of(Bytes(100)), CaptureError::kNotACapture);
  EXPECT_EQ(error_of(FileBuilder(false).u32(0xa1b2c3d4).file()), CaptureError::kHeaderTruncated);
  EXPECT_EQ(error_of(FileBuilder(false).u32(0xa1b2c3d4).u16(9).u16(0).bytes(Bytes(16)).file()),
            CaptureError::kVersionUnknown);
  EXPECT_EQ(error_of(FileBuilder(true).u32(0x0a0d0d0a).u32(12).u32(12).file()),
            CaptureError::kByteOrder);
  const auto start = [] { return FileBuilder(false).section(); };
  EXPECT_EQ(error_of(start().u32(6).file()), CaptureError::kBlockTruncated);
  EXPECT_EQ(error_of(start().u32(6).u32(400).u32(0).file()), CaptureError::kBlockTruncated);
  EXPECT_EQ(error_of(start().u32(6).u32(8).u32(8).file()), CaptureError::kBlockLength);
  EXPECT_EQ(error_of(start().u32(6).u32(12).u32(16).file()), CaptureError::kBlockLength);
  EXPECT_EQ(error_of(start().packet(0, 1).file()), CaptureError::kInterfaceUnknown);
  EXPECT_EQ(error_of(start()
                         .interface(1)
                         .block(6, FileBuilder(false).u32(0).u32(0).u32(0).u32(1'000).u32(1'000))
                         .file()),
            CaptureError::kPacketLength);
}

TEST(CaptureReader, SaysWhereItGaveUp) {
  FileBuilder file(false);
  file.section().interface(1);
  const std::size_t whole = file.file().size();
  EXPECT_EQ(read(file.u32(6).file()).problem,
            (CaptureProblem{CaptureError::kBlockTruncated, whole}));
}

TEST(CaptureReader, DoesNotLetAFileUseUpMemoryWithInterfaces) {
  FileBuilder file(false);
  file.section();
  for (int i = 0; i < 5'000; ++i) file.interface(1);
  EXPECT_EQ(error_of(file.file()), CaptureError::kTooManyInterfaces);
}

TEST(CaptureReader, BrokenOptionsAreNoOptions) {
  FileBuilder file(false);
  file.section().block(1, FileBuilder(false).u16(1).u16(0).u32(0).u16(2).u16(60'000));
  file.packet(0, 1);
  const ReadResult result = read(file.file());
  ASSERT_EQ(result.frames.size(), 1u);
  EXPECT_EQ(result.frames[0].interface_name, "");
}

TEST(PcapngWriterDeathTest, RefusesAnInterfaceItDoesNotKnow) {
  Bytes file;
  PcapngWriter writer(file);
  EXPECT_DEATH(
      writer.add_frame({.interface = CaptureInterface(0), .time = Instant(0), .bytes = {}}),
      "interface was not added");
}

TEST(PcapngWriter, CutsACommentToWhatTheFormatCanHold) {
  Bytes file;
  PcapngWriter writer(file);
  const CaptureInterface interface = writer.add_interface("plane0", "");
  const std::string comment(100'000, 'x');
  writer.add_frame({.interface = interface, .time = Instant(0), .bytes = {}, .comment = comment});
  const ReadResult result = read(file);
  ASSERT_EQ(result.frames.size(), 1u);
  EXPECT_EQ(result.frames[0].comment, comment.substr(0, 0xffff));
}

}  // namespace
}  // namespace openmrc::wire
