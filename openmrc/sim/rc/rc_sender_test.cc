// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/rc/rc_sender.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "openmrc/sim/rc/rc_packet.h"

namespace openmrc::sim {
namespace {

constexpr std::uint32_t kMtu = 1000;
constexpr Picoseconds kMillisecond{1'000'000'000};
constexpr std::uint32_t kRetries = 2;

class RcSenderTest : public testing::Test {
 protected:
  // The next packet, as soon as it may leave.
  wire::RdmaWrite take() {
    EXPECT_TRUE(sender_.has_packet());
    now_ = std::max(now_, sender_.next_send_at());
    return sender_.take_packet(now_);
  }
  void take(int count) {
    for (int i = 0; i < count; ++i) take();
  }
  void time_out() {
    ASSERT_NE(sender_.deadline(), kNoTime);
    now_ = sender_.deadline();
    sender_.on_timeout();
  }

  RcSender::Settings settings_{.mtu = kMtu,
                               .timeout = kMillisecond,
                               .retries = kRetries,
                               .dcqcn = dcqcn_defaults(100'000'000'000)};
  RcSender sender_{settings_, Qpn(7)};
  Picoseconds now_{};
};

TEST_F(RcSenderTest, CutsMessagesIntoPackets) {
  EXPECT_FALSE(sender_.has_packet());
  sender_.post(2 * kMtu + 1, 42, 0);
  sender_.post(5, 43, 1);
  const wire::RdmaWrite first = take();
  EXPECT_EQ(first.destination_qp, Qpn(7));
  EXPECT_EQ(first.psn, Psn(0));
  EXPECT_EQ(first.part, wire::MessagePart::first());
  EXPECT_EQ(first.payload.size(), kMtu);
  EXPECT_FALSE(first.ack_request);
  EXPECT_EQ(take().part, wire::MessagePart::middle());
  const wire::RdmaWrite last = take();
  EXPECT_EQ(last.part, wire::MessagePart::last(wire::Immediate(42)));
  EXPECT_EQ(last.payload.size(), 1u);
  EXPECT_TRUE(last.ack_request);
  const wire::RdmaWrite only = take();
  EXPECT_EQ(only.psn, Psn(3));
  EXPECT_EQ(only.part, wire::MessagePart::only(wire::Immediate(43)));
  EXPECT_FALSE(only.retransmission);
  EXPECT_FALSE(sender_.has_packet());
}

TEST_F(RcSenderTest, SpacesPacketsByItsRate) {
  sender_.post(3 * kMtu, 0, 0);
  const std::uint32_t size = rc_data_size(take().part, kMtu);
  EXPECT_EQ(size, 38u + 40 + 8 + 12 + 16 + kMtu + 4);
  EXPECT_EQ(sender_.next_send_at(), Picoseconds(size * 80));
  sender_.on_congestion(now_);
  take();
  EXPECT_EQ(sender_.next_send_at() - now_, Picoseconds((size - 16) * 160));
}

TEST_F(RcSenderTest, WhatItSendsBringsTheRateBack) {
  settings_.dcqcn.increase_bytes = 1;
  sender_.on_congestion(now_);
  sender_.post(3 * kMtu, 0, 0);
  take();
  take();
  const std::uint32_t size = rc_data_size(wire::MessagePart::middle(), kMtu);
  EXPECT_EQ(sender_.next_send_at() - now_, serialisation_time(size, 75'000'000'000));
}

TEST_F(RcSenderTest, AsksForAcknowledgementsNowAndThen) {
  sender_.post(40 * kMtu, 0, 0);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(take().ack_request, i == 15 || i == 31 || i == 39) << i;
}

TEST_F(RcSenderTest, MessagesAreDoneInOrder) {
  sender_.post(2 * kMtu, 0, 10);
  sender_.post(2 * kMtu, 0, 11);
  take(4);
  sender_.on_ack(now_, Psn(2));
  EXPECT_EQ(sender_.take_done()->message, 10u);
  EXPECT_FALSE(sender_.take_done());
  sender_.on_ack(now_, Psn(3));
  const auto done = sender_.take_done();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->message, 11u);
  EXPECT_FALSE(done->failed);
  EXPECT_EQ(sender_.deadline(), kNoTime);
}

TEST_F(RcSenderTest, GoesBackToThePacketThatIsMissing) {
  sender_.post(8 * kMtu, 0, 0);
  take(6);
  sender_.on_nak(now_, Psn(2));
  for (std::uint32_t psn = 2; psn < 8; ++psn) {
    const wire::RdmaWrite write = take();
    EXPECT_EQ(write.psn, Psn(psn));
    EXPECT_EQ(write.retransmission, psn < 6);
  }
  sender_.on_nak(now_, Psn(1));  // old: 0 and 1 have arrived
  EXPECT_FALSE(sender_.has_packet());
}

TEST_F(RcSenderTest, AnAcknowledgementMakesRetransmissionNeedless) {
  sender_.post(8 * kMtu, 0, 0);
  take(8);
  time_out();
  EXPECT_EQ(take().psn, Psn(0));
  sender_.on_ack(now_, Psn(4));
  EXPECT_EQ(take().psn, Psn(5));
}

TEST_F(RcSenderTest, WaitsOnlyForWhatItAskedFor) {
  sender_.post(20 * kMtu, 0, 0);
  take(15);
  EXPECT_EQ(sender_.deadline(), kNoTime);
  take();
  const Picoseconds asked = now_;
  EXPECT_EQ(sender_.deadline(), asked + kMillisecond);
  take();
  EXPECT_EQ(sender_.deadline(), asked + kMillisecond);
  sender_.on_ack(now_, Psn(15));
  EXPECT_EQ(sender_.deadline(), kNoTime);
}

TEST_F(RcSenderTest, GoingBackItHasAskedForNothingYet) {
  sender_.post(20 * kMtu, 0, 0);
  take(20);
  sender_.on_nak(now_, Psn(2));
  EXPECT_EQ(sender_.deadline(), kNoTime);
  take(4);
  sender_.on_ack(now_, Psn(4));
  EXPECT_EQ(sender_.deadline(), kNoTime);
}

TEST_F(RcSenderTest, BreaksAfterSoManyTimeoutsInARow) {
  sender_.post(2 * kMtu, 0, 5);
  for (std::uint32_t i = 0; i < kRetries; ++i) {
    take(2);
    time_out();
    EXPECT_FALSE(sender_.take_done());
  }
  take(2);
  time_out();
  EXPECT_FALSE(sender_.has_packet());
  EXPECT_EQ(sender_.deadline(), kNoTime);
  auto done = sender_.take_done();
  ASSERT_TRUE(done);
  EXPECT_EQ(done->message, 5u);
  EXPECT_TRUE(done->failed);
  sender_.post(1, 0, 6);
  done = sender_.take_done();
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->failed);
}

TEST_F(RcSenderTest, ProgressForgivesTimeouts) {
  constexpr std::uint32_t kMessages = 3 * kRetries;
  for (std::uint32_t i = 0; i < kMessages; ++i) sender_.post(1, 0, i);
  for (std::uint32_t i = 0; i < kMessages; ++i) {
    take();
    time_out();
    take();
    sender_.on_ack(now_, Psn(i));
    const auto done = sender_.take_done();
    ASSERT_TRUE(done);
    EXPECT_FALSE(done->failed);
  }
}

TEST_F(RcSenderTest, HasALimitOfPacketsInFlight) {
  sender_.post(std::uint64_t{2 * RcSender::kInFlightMax} * kMtu, 0, 0);
  take(RcSender::kInFlightMax);
  EXPECT_FALSE(sender_.has_packet());
  sender_.on_ack(now_, Psn(0));
  EXPECT_TRUE(sender_.has_packet());
}

}  // namespace
}  // namespace openmrc::sim
