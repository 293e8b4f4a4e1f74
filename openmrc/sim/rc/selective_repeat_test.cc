// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/rc/selective_repeat.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <vector>

#include "openmrc/sim/rc/early_packets.h"
#include "openmrc/sim/rc/rc_receiver.h"
#include "openmrc/sim/rc/rc_sender.h"

namespace openmrc::sim {
namespace {

constexpr Picoseconds kMillisecond{1'000'000'000};

UnwrappedPsn psn(std::int64_t number) { return UnwrappedPsn(number); }

TEST(SelectiveRepeat, RepeatsWhatOthersHaveOvertaken) {
  SelectiveRepeat repeat(0);
  EXPECT_FALSE(repeat.has_packet());
  repeat.on_arrived(psn(1));
  repeat.on_arrived(psn(3));
  EXPECT_EQ(repeat.take_packet(), psn(0));
  EXPECT_EQ(repeat.take_packet(), psn(2));
  EXPECT_FALSE(repeat.has_packet()) << "each once";
  repeat.on_arrived(psn(5));
  EXPECT_EQ(repeat.take_packet(), psn(4));
}

TEST(SelectiveRepeat, WaitsForWhatMayOnlyBeLate) {
  SelectiveRepeat repeat(3);
  repeat.on_arrived(psn(3));
  EXPECT_FALSE(repeat.has_packet());
  repeat.on_arrived(psn(4));
  EXPECT_TRUE(repeat.has_packet()) << "packet 0 is four behind";
  repeat.on_acknowledged(psn(0), psn(1));
  EXPECT_FALSE(repeat.has_packet()) << "it has come";
}

TEST(SelectiveRepeat, RepeatsAllThatHasNotArrivedAfterATimeout) {
  SelectiveRepeat repeat(0);
  repeat.on_arrived(psn(2));
  EXPECT_EQ(repeat.take_packet(), psn(0));
  EXPECT_EQ(repeat.take_packet(), psn(1));
  repeat.on_arrived(psn(1));
  repeat.on_timeout(psn(0), psn(5));
  EXPECT_EQ(repeat.take_packet(), psn(0));
  EXPECT_EQ(repeat.take_packet(), psn(3));
  EXPECT_EQ(repeat.take_packet(), psn(4));
  EXPECT_FALSE(repeat.has_packet());
}

TEST(SelectiveRepeat, ForgetsNumbersThatComeAgain) {
  SelectiveRepeat repeat(0);
  repeat.on_arrived(psn(1));
  repeat.on_acknowledged(psn(0), psn(2));
  repeat.on_arrived(psn(PsnWindow::kPackets + 1));
  for (std::int64_t i = 2; i < PsnWindow::kPackets + 1; ++i)
    EXPECT_EQ(repeat.take_packet(), psn(i));
  EXPECT_FALSE(repeat.has_packet());
}

class SelectivePair : public testing::Test {
 protected:
  wire::RdmaWrite take() {
    EXPECT_TRUE(sender_.has_packet());
    now_ = std::max(now_, sender_.next_send_at());
    return sender_.take_packet(now_);
  }
  // It arrives, and the sender hears of it.
  void pass(const wire::RdmaWrite& write) {
    const RcReceiver::Outcome outcome = receiver_.receive(write, false, now_);
    const Psn last = receiver_.expected() + -1;
    EXPECT_FALSE(outcome.nak);
    if (outcome.selective) sender_.on_selective(now_, last, write.psn);
    if (outcome.ack) sender_.on_ack(now_, last);
    if (outcome.delivered) delivered_.push_back(*outcome.delivered);
    if (!outcome.closes_gap) return;
    while (const auto tag = receiver_.take_delivered()) delivered_.push_back(*tag);
  }

  RcSender::Settings settings_{.mtu = 1000,
                               .timeout = kMillisecond,
                               .retries = 2,
                               .dcqcn = dcqcn_defaults(100'000'000'000),
                               .recovery = Recovery::kSelective};
  RcSender sender_{settings_, Qpn(7)};
  RcReceiver receiver_{Recovery::kSelective};
  std::vector<MessageTag> delivered_;
  Picoseconds now_{};
};

TEST_F(SelectivePair, LosesOnePacketAndRepeatsOne) {
  for (MessageTag tag = 0; tag < 4; ++tag) sender_.post(1000, tag, tag);
  const std::array sent{take(), take(), take(), take()};
  for (const std::size_t arrives : {0UZ, 2UZ, 3UZ}) pass(sent[arrives]);
  EXPECT_EQ(delivered_, std::vector<MessageTag>{0});
  const wire::RdmaWrite again = take();
  EXPECT_EQ(again.psn, Psn(1));
  EXPECT_TRUE(again.retransmission);
  pass(again);
  EXPECT_EQ(delivered_, (std::vector<MessageTag>{0, 1, 2, 3})) << "in order";
  EXPECT_FALSE(sender_.has_packet());
  EXPECT_EQ(sender_.deadline(), kNoTime);
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(sender_.take_done()->message, i);
}

TEST_F(SelectivePair, FindsALostRetransmissionByItsTimeout) {
  for (MessageTag tag = 0; tag < 3; ++tag) sender_.post(1000, tag, tag);
  const std::array sent{take(), take(), take()};
  for (const std::size_t arrives : {1UZ, 2UZ}) pass(sent[arrives]);
  EXPECT_EQ(take().psn, Psn(0));
  EXPECT_FALSE(sender_.has_packet());
  ASSERT_NE(sender_.deadline(), kNoTime);
  now_ = sender_.deadline();
  sender_.on_timeout();
  pass(take());
  EXPECT_EQ(delivered_.size(), 3U);
  EXPECT_FALSE(sender_.has_packet()) << "what has arrived is not retransmitted";
}

}  // namespace
}  // namespace openmrc::sim
