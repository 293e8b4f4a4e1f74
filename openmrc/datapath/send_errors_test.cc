// SPDX-License-Identifier: BSD-3-Clause
// What becomes of packets when the kernel does not take them. It is asked through a sendmmsg() of
// this program's own, which can fail as the real one does.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <deque>
#include <memory>
#include <vector>

#include "openmrc/datapath/open.h"
#include "openmrc/datapath/test_packets.h"

namespace {

std::deque<int> g_failures;  // of the next calls
int g_calls = 0;

}  // namespace

extern "C" int sendmmsg(int socket, mmsghdr* messages, unsigned count, int flags) {
  ++g_calls;
  if (g_failures.empty()) {
    return static_cast<int>(::syscall(SYS_sendmmsg, socket, messages, count, flags));
  }
  errno = g_failures.front();
  g_failures.pop_front();
  return -1;
}

namespace openmrc::datapath {
namespace {

constexpr auto kLoopback = wire::Ipv6Address::of({0, 0, 0, 0, 0, 0, 0, 1});
constexpr std::size_t kPackets = 5;

class SendErrors : public ::testing::Test {
 protected:
  SendErrors() {
    settings_.ports = {{.interface = "", .address = kLoopback}};
    settings_.wire.udp_port = test_port();
    settings_.segments_max = 1;
  }
  ~SendErrors() override { g_failures.clear(); }

  // Sends packets of which the first calls fail so.
  void send(std::deque<int> failures) {
    auto path = open(settings_);
    ASSERT_TRUE(path) << to_string(path.error());
    path_ = *std::move(path);
    for (std::uint32_t psn = 0; psn < kPackets; ++psn) {
      packets_.push_back(
          test_write({.source = kLoopback, .destination = kLoopback, .ev = Ev(0xc001)}, data_, psn,
                     first_qpn(path_->slot())));
      packets_.back().udp_port = settings_.wire.udp_port;
    }
    g_failures = std::move(failures);
    g_calls = 0;
    path_->send(burst_of(packets_));
  }
  [[nodiscard]] std::uint64_t count(Count which) const { return path_->counters().of(which); }
  // From the PSN `first` on, in order and as they were.
  void expect_arrivals(std::uint32_t first) {
    const Collected got = collect(*path_, kPackets - first);
    ASSERT_EQ(got.incoming.size(), kPackets - first);
    for (std::uint32_t i = 0; i < got.incoming.size(); ++i) {
      EXPECT_EQ(write_of(got.incoming[i]).psn, Psn(first + i));
      EXPECT_EQ(got.data[i], data_);
    }
  }

  Settings settings_{};
  std::vector<std::byte> data_ = test_data(1000);
  std::vector<wire::Packet> packets_{};
  std::unique_ptr<Datapath> path_{};
};

struct ErrorAndCount {
  int error_number;
  Count count;
};
class LostForGood : public SendErrors, public ::testing::WithParamInterface<ErrorAndCount> {};

INSTANTIATE_TEST_SUITE_P(All, LostForGood,
                         ::testing::Values(ErrorAndCount{ENOBUFS, Count::kSendNoMemory},
                                           ErrorAndCount{ENOMEM, Count::kSendNoMemory},
                                           ErrorAndCount{EPERM, Count::kSendRefused},
                                           ErrorAndCount{EACCES, Count::kSendRefused},
                                           ErrorAndCount{EMSGSIZE, Count::kSendTooLong},
                                           ErrorAndCount{ENETUNREACH, Count::kSendNoRoute},
                                           ErrorAndCount{EHOSTUNREACH, Count::kSendNoRoute},
                                           ErrorAndCount{ENETDOWN, Count::kSendPortDown},
                                           ErrorAndCount{EADDRNOTAVAIL, Count::kSendNoAddress},
                                           ErrorAndCount{ENODEV, Count::kSendNoAddress},
                                           ErrorAndCount{ENXIO, Count::kSendNoAddress},
                                           ErrorAndCount{EINVAL, Count::kSendOtherError}),
                         [](const auto& test) {
                           return "Errno" + std::to_string(test.param.error_number);
                         });

TEST_P(LostForGood, TheFirstPacketIsCountedAndTheOthersArrive) {
  send({GetParam().error_number});
  EXPECT_EQ(count(GetParam().count), 1U);
  EXPECT_EQ(count(Count::kPacketsSent), kPackets - 1);
  EXPECT_EQ(g_calls, 2) << "the error is not tried again";
  EXPECT_EQ(path_->blocked(), 0U);
  expect_arrivals(1);
}

TEST_P(LostForGood, ErrorsWithoutEndEndWithThePackets) {
  send(std::deque<int>(100, GetParam().error_number));
  EXPECT_EQ(count(GetParam().count), kPackets);
  EXPECT_EQ(count(Count::kPacketsSent), 0U);
  EXPECT_EQ(g_calls, static_cast<int>(kPackets));
  EXPECT_EQ(path_->blocked(), 0U);
}

TEST_F(SendErrors, AFullSocketIsAskedOncePerSendAndNothingIsLost) {
  send({EAGAIN, EAGAIN, EAGAIN});
  EXPECT_EQ(g_calls, 1);
  for (const int calls : {2, 3}) {
    path_->send({});
    EXPECT_EQ(g_calls, calls);
    EXPECT_EQ(path_->blocked(), 1U);
  }
  path_->send({});
  EXPECT_EQ(path_->blocked(), 0U);
  EXPECT_EQ(count(Count::kHeldBack), kPackets);
  expect_arrivals(0);
}

TEST_F(SendErrors, WhatWasHeldMayBeLostForGoodAsWell) {
  send({EAGAIN, ENOBUFS});
  path_->send({});
  EXPECT_EQ(count(Count::kSendNoMemory), 1U);
  EXPECT_EQ(path_->blocked(), 0U);
  expect_arrivals(1);
}

TEST_F(SendErrors, AnInterruptedCallIsRepeated) {
  send({EINTR, EINTR});
  EXPECT_EQ(g_calls, 3);
  expect_arrivals(0);
}

TEST_F(SendErrors, WithoutSegmentationPacketsLeaveOneByOne) {
  settings_.segments_max = 16;
  send({EIO});
  EXPECT_EQ(count(Count::kMessagesSent), kPackets);
  EXPECT_EQ(path_->notices().size(), 1U);
  expect_arrivals(0);
}

// The least that the kernel gives: one packet in either direction.
TEST_F(SendErrors, TheSmallestBuffersCarryPacketsOneByOne) {
  settings_.socket_buffer = 0;
  send({});
  std::size_t received = 0;
  for (int tries = 0; received + count(Count::kSendNoMemory) < kPackets && tries < 1000; ++tries) {
    const Collected got = collect(*path_, 1, 1);
    for (const auto& data : got.data) EXPECT_EQ(data, data_);
    received += got.incoming.size();
    path_->send({});
  }
  EXPECT_GT(received, 0U);
  EXPECT_EQ(path_->blocked(), 0U);
}

}  // namespace
}  // namespace openmrc::datapath
