// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "openmrc/xdp/datapath.h"
#include "openmrc/xdp/interface.h"
#include "openmrc/xdp/program.h"
#include "openmrc/xdp/test_hosts.h"

// Ports that are opened while something of the one before is still there, or of another program.
namespace openmrc::xdp {
namespace {

using datapath::Count;
using datapath::Datapath;
using datapath::to_string;

// By then the kernel has taken down what was closed.
constexpr std::chrono::milliseconds kGone{1000};

// When the network has been looked at so often, once a second.
Instant after_looks(int looks) { return Instant(0) + seconds(2 * looks); }

class XdpReopen : public TwoHosts {
 protected:
  void look(Datapath& to, int looks) const {
    std::array<datapath::Incoming, 1> none;
    b_.in([&] { EXPECT_EQ(to.receive(after_looks(looks), none), 0u); });
  }
  // Whether a packet from A arrives at `to`, and as a frame.
  void expect_frames(Datapath& from, Datapath& to) const {
    const auto data = datapath::test_data(1000);
    const auto sent = packet(data, to.slot());
    const std::uint64_t before = to.counters().of(Count::kFramesReceived);
    from.send(std::array{datapath::Outgoing{.packet = &sent, .plane = Plane(0)}});
    EXPECT_EQ(datapath::collect(to, 1).data.size(), 1u);
    EXPECT_EQ(to.counters().of(Count::kFramesReceived), before + 1);
  }
  // Another program's, with the interface as it is now.
  [[nodiscard]] std::optional<Program> other_program() const {
    return b_.in([&]() -> std::optional<Program> {
      const auto interface = find_interface("b0");
      if (!interface) return std::nullopt;
      auto program = Program::attach({.interface = "b0",
                                      .interface_index = interface->index,
                                      .address = kB,
                                      .wire = {},
                                      .slot = datapath::Slot(0)},
                                     Patience::kNone);
      EXPECT_TRUE(program) << to_string(program.error());
      return program ? std::optional(*std::move(program)) : std::nullopt;
    });
  }
};

// The kernel takes a socket down a moment after it was closed.
TEST_F(XdpReopen, AtOnce) {
  know_neighbour();
  const auto from = opened(a_, settings("a0", kA));
  ASSERT_TRUE(from);
  for (int i = 0; i < 5; ++i) {
    const auto to = opened(b_, settings("b0", kB));
    ASSERT_TRUE(to);
    expect_frames(*from, *to);
  }
}

TEST_F(XdpReopen, AnInterfaceThatIsAnotherNow) {
  know_neighbour();
  const auto from = opened(a_, settings("a0", kA));
  const auto to = opened(b_, settings("b0", kB));
  ASSERT_TRUE(from && to);
  expect_frames(*from, *to);
  b_.ip("link set b0 mtu 8000");
  look(*to, 1);
  std::this_thread::sleep_for(kGone);
  look(*to, 2);
  expect_frames(*from, *to);
  EXPECT_TRUE(to->notices().empty()) << to_string(to->notices().front());
}

// The other ports go on meanwhile.
TEST_F(XdpReopen, WithoutWaiting) {
  const auto to = opened(b_, settings("b0", kB));
  ASSERT_TRUE(to);
  disconnect();
  look(*to, 1);
  connect();
  auto other = other_program();
  ASSERT_TRUE(other);
  const auto began = std::chrono::steady_clock::now();
  look(*to, 2);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(500));
  EXPECT_TRUE(to->notices().empty()) << "it may be going just now";
  look(*to, 3);
  ASSERT_EQ(to->notices().size(), 1u);
  EXPECT_NE(to_string(to->notices()[0]).find("XDP program of another program"), std::string::npos)
      << to_string(to->notices()[0]);

  other.reset();
  std::this_thread::sleep_for(kGone);
  look(*to, 4);
  know_neighbour();
  const auto from = opened(a_, settings("a0", kA));
  ASSERT_TRUE(from);
  expect_frames(*from, *to);
}

}  // namespace
}  // namespace openmrc::xdp
