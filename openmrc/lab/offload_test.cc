// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/offload.h"

#include <gtest/gtest.h>

#include <vector>

namespace openmrc::lab {
namespace {

using Bytes = std::vector<std::byte>;
using Frames = std::vector<Bytes>;

constexpr std::size_t kHeaders = 14 + 40 + 8;  // Ethernet, IPv6, UDP

// A UDP datagram from ::1 to ::2 with a payload of 0, 1, 2, ...; its lengths are those of a burst.
Bytes burst_of(std::size_t payload) {
  Bytes frame(kHeaders + payload);
  frame[12] = std::byte{0x86};
  frame[13] = std::byte{0xdd};
  frame[14] = std::byte{0x60};
  frame[18] = std::byte{0xff};  // what a sender of bursts leaves there must not matter
  frame[20] = std::byte{17};
  frame[14 + 8 + 15] = std::byte{1};
  frame[14 + 24 + 15] = std::byte{2};
  frame[54 + 1] = std::byte{10};
  frame[54 + 3] = std::byte{20};
  frame[54 + 6] = std::byte{0xab};
  for (std::size_t i = 0; i < payload; ++i) frame[kHeaders + i] = static_cast<std::byte>(i);
  return frame;
}

Frames frames_of(const Offload& offload, Bytes frame) {
  Frames frames;
  for_each_frame(offload, frame,
                 [&](ConstBytes bytes) { frames.emplace_back(bytes.begin(), bytes.end()); });
  return frames;
}

unsigned u16(const Bytes& frame, std::size_t at) {
  return std::to_integer<unsigned>(frame[at]) << 8 | std::to_integer<unsigned>(frame[at + 1]);
}

// RFC 8200 8.1: with the pseudo-header, all words of a datagram add up to 0xffff.
unsigned udp_sum(const Bytes& frame) {
  unsigned sum = u16(frame, 18) + 17;
  for (std::size_t at = 14 + 8; at < frame.size(); ++at) {
    sum += std::to_integer<unsigned>(frame[at]) << (at % 2 == 0 ? 8 : 0);
  }
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

constexpr Offload kUdpOffload{.flags = Offload::kNeedsChecksum,
                              .gso_type = Offload::kUdpBurst,
                              .hdr_len = kHeaders,
                              .gso_size = 100,
                              .csum_start = 54,
                              .csum_offset = 6};

TEST(Offload, BurstBecomesItsDatagrams) {
  const auto frames = frames_of(kUdpOffload, burst_of(250));
  ASSERT_EQ(frames.size(), 3U);
  std::size_t at = 0;
  for (const std::size_t size : {100U, 100U, 50U}) {
    const Bytes& frame = frames[at / 100];
    ASSERT_EQ(frame.size(), kHeaders + size);
    EXPECT_EQ(u16(frame, 18), 8 + size) << "IPv6 payload length";
    EXPECT_EQ(u16(frame, 54), 10U) << "source port";
    EXPECT_EQ(u16(frame, 58), 8 + size) << "UDP length";
    EXPECT_EQ(udp_sum(frame), 0xffffU);
    EXPECT_EQ(frame[kHeaders], static_cast<std::byte>(at));
    EXPECT_EQ(frame.back(), static_cast<std::byte>(at + size - 1));
    at += size;
  }
}

TEST(Offload, BurstOfWholeDatagramsHasNoEmptyOne) {
  EXPECT_EQ(frames_of(kUdpOffload, burst_of(200)).size(), 2U);
}

TEST(Offload, OtherFramesStayAsTheyAre) {
  const Bytes frame = burst_of(250);
  EXPECT_EQ(frames_of({}, frame), Frames{frame});
  Offload tcp = kUdpOffload;
  tcp.gso_type = 4;  // VIRTIO_NET_HDR_GSO_TCPV6
  EXPECT_EQ(frames_of(tcp, frame), Frames{frame});
  Offload empty = kUdpOffload;
  empty.gso_size = 0;
  EXPECT_EQ(frames_of(empty, frame), Frames{frame});
  EXPECT_EQ(frames_of(kUdpOffload, Bytes(10)), Frames{Bytes(10)}) << "too short to be split";
}

TEST(Offload, ChecksumThatWasLeftToHardwareIsWritten) {
  Offload single = kUdpOffload;
  single.gso_type = Offload::kNoBurst;
  Bytes frame = burst_of(3);
  frame[18] = std::byte{0};
  frame[19] = std::byte{11};
  frame[59] = std::byte{11};
  // What the kernel leaves there is the sum of the pseudo-header: ::1, ::2, 11 and 17.
  frame[60] = std::byte{0};
  frame[61] = std::byte{1 + 2 + 11 + 17};
  const auto frames = frames_of(single, frame);
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(udp_sum(frames[0]), 0xffffU);
}

TEST(Offload, ChecksumOutsideTheFrameIsLeftOut) {
  Bytes frame(60, std::byte{7});
  const Bytes before = frame;
  complete_checksum(kUdpOffload, frame);  // it would be at bytes 60 and 61
  EXPECT_EQ(frame, before);
}

}  // namespace
}  // namespace openmrc::lab
