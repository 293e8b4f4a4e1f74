// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/xdp/program.h"

#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/srh.h"
#include "openmrc/wire/header/udp.h"
#include "openmrc/xdp/frame_socket.h"
#include "openmrc/xdp/interface.h"
#include "openmrc/xdp/test_frames.h"
#include "openmrc/xdp/test_hosts.h"

// The program as the kernel has verified and compiled it, with frames that nobody has sent.
namespace openmrc::xdp {
namespace {

constexpr datapath::Slot kOwn{3};
constexpr datapath::Slot kOther{4};
constexpr std::size_t kOuter = kEthernet;  // where the first IPv6 header begins
constexpr std::size_t kNextHeader = 6;     // in an IPv6 header

class XdpProgram : public TwoHosts {
 protected:
  void SetUp() override {
    TwoHosts::SetUp();
    if (IsSkipped()) return;
    b_.in([&] {
      const auto interface = find_interface("b0");
      ASSERT_TRUE(interface);
      wire::WireSettings wire;
      wire.udp_port = datapath::test_port();
      auto program = Program::attach({.interface = "b0",
                                      .interface_index = interface->index,
                                      .address = kB,
                                      .wire = wire,
                                      .slot = kOwn},
                                     Patience::kSome);
      ASSERT_TRUE(program) << datapath::to_string(program.error());
      program_ = *std::move(program);
      auto socket = FrameSocket::open("b0", 0, interface->mtu, Patience::kSome);
      ASSERT_TRUE(socket) << datapath::to_string(socket.error());
      socket_ = *std::move(socket);
      ASSERT_TRUE(program_->add_socket(0, socket_->descriptor()));
    });
  }

  // Whether the socket gets it; else it takes its usual way.
  [[nodiscard]] bool takes(const Bytes& frame) const {
    Bytes out(frame.size() + 256);
    bpf_attr attributes{};
    attributes.test.prog_fd = static_cast<__u32>(program_->descriptor());
    attributes.test.data_in = reinterpret_cast<std::uintptr_t>(frame.data());
    attributes.test.data_size_in = static_cast<__u32>(frame.size());
    attributes.test.data_out = reinterpret_cast<std::uintptr_t>(out.data());
    attributes.test.data_size_out = static_cast<__u32>(out.size());
    EXPECT_EQ(::syscall(SYS_bpf, BPF_PROG_TEST_RUN, &attributes, sizeof attributes), 0)
        << frame.size();
    out.resize(attributes.test.data_size_out);
    EXPECT_EQ(out, frame) << "it changes nothing";
    EXPECT_TRUE(attributes.test.retval == XDP_PASS || attributes.test.retval == XDP_REDIRECT);
    return attributes.test.retval == XDP_REDIRECT;
  }
  static Bytes frame(Kind kind, datapath::Slot to = kOwn) {
    const auto payload = datapath::test_data(8);  // which the packet refers to
    auto packet = packet_of(kind, payload, datapath::first_qpn(to));
    packet.udp_port = datapath::test_port();
    return frame_of(packet);
  }
  static std::size_t inner_at(Kind kind) {
    switch (kind) {
      case Kind::kPlain: return kOuter;
      case Kind::kSrv6: return kOuter + wire::kIpv6Size;
      case Kind::kSrh: return kOuter + wire::kIpv6Size + wire::kSrhSize;
    }
    return 0;
  }
  static Bytes with(Bytes frame, std::size_t at, std::uint8_t value) {
    frame.at(at) = std::byte{value};
    return frame;
  }

  std::optional<Program> program_{};
  std::unique_ptr<FrameSocket> socket_{};
};

TEST_F(XdpProgram, TakesWhatHasItsHeaders) {
  for (const Kind kind : kKinds) {
    const Bytes whole = frame(kind);
    const std::size_t bth_end = inner_at(kind) + wire::kIpv6Size + wire::kUdpSize + wire::kBthSize;
    for (std::size_t size = kEthernet; size <= whole.size(); ++size) {
      const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_EQ(takes(cut), size >= bth_end) << size;
    }
  }
}

TEST_F(XdpProgram, LeavesOtherPrograms) {
  for (const Kind kind : kKinds) {
    const Bytes own = frame(kind);
    const std::size_t inner = inner_at(kind);
    const std::size_t udp = inner + wire::kIpv6Size;
    ASSERT_TRUE(takes(own));
    EXPECT_FALSE(takes(with(own, kEthernet - 2, 0x08))) << "another kind of frame";
    EXPECT_FALSE(takes(with(own, inner + kNextHeader, 6))) << "TCP";
    EXPECT_FALSE(takes(with(own, inner + kNextHeader, 44))) << "a fragment";
    EXPECT_FALSE(takes(with(own, udp - 1, 3))) << "another address";
    EXPECT_FALSE(takes(with(own, udp + 3, 0))) << "another port";
  }
  const std::size_t routing = kOuter + wire::kIpv6Size;
  EXPECT_FALSE(takes(with(frame(Kind::kSrh), routing + 1, 4))) << "two segments";
  EXPECT_FALSE(takes(with(frame(Kind::kSrh), routing + 2, 3))) << "another routing header";
  EXPECT_FALSE(takes(with(frame(Kind::kSrh), routing + 3, 1))) << "not there yet";
  Bytes deeper = frame(Kind::kSrv6);
  deeper[inner_at(Kind::kSrv6) + kNextHeader] = std::byte{41};
  EXPECT_FALSE(takes(deeper));
}

// Traffic class: the low half of the first byte and the high half of the second.
TEST_F(XdpProgram, LeavesOtherShardsUnlessTheOuterHeaderSaysMore) {
  for (const Kind kind : kKinds) {
    const Bytes other = frame(kind, kOther);
    EXPECT_FALSE(takes(other));
    EXPECT_TRUE(
        takes(with(other, kOuter + 1, std::to_integer<std::uint8_t>(other[kOuter + 1]) | 0x30)))
        << "CE";
    for (const auto dscp : {wire::DscpMap{}.trimmed, wire::DscpMap{}.trimmed_last_hop}) {
      const auto byte = wire::traffic_byte(dscp, wire::Ecn::kNotCapable);
      const Bytes high = with(other, kOuter, static_cast<std::uint8_t>(0x60 | byte >> 4));
      EXPECT_TRUE(takes(with(high, kOuter + 1, static_cast<std::uint8_t>(byte << 4))));
    }
  }
  // What a switch has not changed lies in the inner header, which a UDP socket sees.
  Bytes inner_only = frame(Kind::kSrv6, kOther);
  inner_only[inner_at(Kind::kSrv6) + 1] |= std::byte{0x30};
  EXPECT_FALSE(takes(inner_only));
}

}  // namespace
}  // namespace openmrc::xdp
