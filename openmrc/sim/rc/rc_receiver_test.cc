// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/rc/rc_receiver.h"

#include <gtest/gtest.h>

#include "openmrc/sim/rc/dcqcn.h"

namespace openmrc::sim {
namespace {

class RcReceiverTest : public testing::Test {
 protected:
  RcReceiver::Outcome receive(std::uint32_t psn, wire::MessagePart part, bool ack_request = false) {
    return receiver_.receive({.psn = Psn(psn), .ack_request = ack_request, .part = part}, false,
                             Picoseconds{});
  }
  RcReceiver::Outcome receive_only(std::uint32_t psn) {
    return receive(psn, wire::MessagePart::only(wire::Immediate(100 + psn)), true);
  }
  bool notifies(bool marked, Picoseconds now) {
    return receiver_.receive({.psn = receiver_.expected()}, marked, now).congestion;
  }

  RcReceiver receiver_;
};

TEST_F(RcReceiverTest, DeliversAMessageWithItsLastPacket) {
  EXPECT_FALSE(receive(0, wire::MessagePart::first()).delivered);
  const auto middle = receive(1, wire::MessagePart::middle(), true);
  EXPECT_TRUE(middle.ack);
  EXPECT_FALSE(middle.delivered);
  const auto last = receive(2, wire::MessagePart::last(wire::Immediate(9)));
  EXPECT_FALSE(last.ack);
  EXPECT_EQ(last.delivered, 9u);
  EXPECT_EQ(receiver_.expected(), Psn(3));
}

TEST_F(RcReceiverTest, AsksOnceForWhatIsMissingAndTakesNothingElse) {
  receive_only(0);
  const auto ahead = receive_only(2);
  EXPECT_TRUE(ahead.nak);
  EXPECT_FALSE(ahead.ack);
  EXPECT_FALSE(ahead.delivered);
  EXPECT_FALSE(receive_only(3).nak);
  EXPECT_EQ(receiver_.expected(), Psn(1));

  EXPECT_EQ(receive_only(1).delivered, 101u);
  EXPECT_EQ(receive_only(2).delivered, 102u);
  EXPECT_TRUE(receive_only(9).nak);  // missing is something else now
}

TEST_F(RcReceiverTest, AcknowledgesAgainWithoutDeliveringAgain) {
  receive_only(0);
  receive_only(1);
  const auto again = receive_only(0);
  EXPECT_TRUE(again.ack);
  EXPECT_FALSE(again.nak);
  EXPECT_FALSE(again.delivered);
  EXPECT_EQ(receiver_.expected(), Psn(2));
}

TEST_F(RcReceiverTest, NotifiesOfMarksOnceInAWhile) {
  EXPECT_FALSE(notifies(false, Picoseconds(1)));
  EXPECT_TRUE(notifies(true, Picoseconds(2)));
  EXPECT_FALSE(notifies(true, kCnpInterval + Picoseconds(1)));
  EXPECT_TRUE(notifies(true, kCnpInterval + Picoseconds(2)));
}

TEST_F(RcReceiverTest, NotifiesOfMarkedPacketsThatItDoesNotTake) {
  const wire::RdmaWrite ahead{.psn = Psn(5)};
  EXPECT_TRUE(receiver_.receive(ahead, true, Picoseconds{}).congestion);
}

}  // namespace
}  // namespace openmrc::sim
