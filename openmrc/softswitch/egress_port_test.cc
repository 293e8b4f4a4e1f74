// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/softswitch/egress_port.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "openmrc/softswitch/test_packets.h"
#include "openmrc/wire/decode.h"

namespace openmrc::softswitch {
namespace {

using wire::Ecn;

constexpr QueuePolicy kNoMarks{.data_max_bytes = 1'000'000, .control_max_bytes = 1'000'000};

// A port and the buffers behind it.
class EgressPortTest : public testing::Test {
 protected:
  void push(EgressPort& port, QueueClass queue, const Bytes& packet) {
    const BufferIndex buffer = pool_.take();
    ASSERT_NE(buffer, kNoBuffer);
    pool_.store(buffer, packet);
    port.push(pool_, queue, buffer);
  }
  // Nothing if none waits.
  Bytes pop(EgressPort& port) {
    const BufferIndex buffer = port.pop(pool_, counters_);
    if (buffer == kNoBuffer) return {};
    const ConstBytes bytes = pool_.bytes(buffer);
    pool_.give_back(buffer);
    return {bytes.begin(), bytes.end()};
  }
  // Of each packet that leaves, until none is left: whether it carries a mark.
  std::vector<bool> pop_marks(EgressPort& port) {
    std::vector<bool> marks;
    for (Bytes bytes = pop(port); !bytes.empty(); bytes = pop(port)) {
      marks.push_back(wire::decode_ip(bytes, {}).value().ecn == Ecn::kCongested);
    }
    return marks;
  }

  PacketPool pool_{1024};
  PortCounters counters_;
};

const Bytes kData = write_packet(plain_route());
const Bytes kControl = sack_packet(plain_route());
const auto kDataSize = static_cast<std::uint32_t>(kData.size());

TEST_F(EgressPortTest, GivesNothingWhenNothingWaits) {
  EgressPort port(kNoMarks, 1);
  EXPECT_TRUE(pop(port).empty());
}

// CC-47
TEST_F(EgressPortTest, SendsControlBeforeDataThatCameEarlier) {
  EgressPort port(kNoMarks, 1);
  push(port, QueueClass::kData, kData);
  push(port, QueueClass::kControl, kControl);
  EXPECT_EQ(port.waiting(QueueClass::kData).bytes(), kDataSize);
  EXPECT_EQ(port.waiting(QueueClass::kControl).bytes(), kControl.size());
  EXPECT_EQ(pop(port), kControl);
  EXPECT_EQ(pop(port), kData);
  EXPECT_TRUE(pop(port).empty());
}

// MRC 8 (CC-47): a flood of control does not stop data.
TEST_F(EgressPortTest, GivesDataHalfOfTheBytes) {
  EgressPort port(kNoMarks, 1);
  for (int i = 0; i < 500; ++i) push(port, QueueClass::kControl, kControl);
  for (int i = 0; i < 20; ++i) push(port, QueueClass::kData, kData);
  std::size_t control = 0;
  std::size_t data = 0;
  while (!port.waiting(QueueClass::kControl).empty() && !port.waiting(QueueClass::kData).empty()) {
    const std::size_t size = pop(port).size();
    (size == kControl.size() ? control : data) += size;
    EXPECT_LE(control, data + 16'384 + kControl.size());
    EXPECT_LE(data, control + kData.size());
  }
  EXPECT_GT(data, 10'000u);
}

// What leaves while the other queue is empty costs no credit.
TEST_F(EgressPortTest, ChargesOnlyWhatTheOtherQueueHadToWaitFor) {
  EgressPort port(kNoMarks, 1);
  for (int i = 0; i < 500; ++i) push(port, QueueClass::kControl, kControl);
  while (!pop(port).empty()) {
  }
  push(port, QueueClass::kData, kData);
  push(port, QueueClass::kControl, kControl);
  EXPECT_EQ(pop(port), kControl);
}

// CC-50
TEST_F(EgressPortTest, MarksByWhatWaitsWhenThePacketLeaves) {
  QueuePolicy policy = kNoMarks;
  policy.ecn_min_bytes = policy.ecn_max_bytes = 3 * kDataSize;
  EgressPort port(policy, 1);
  for (int i = 0; i < 6; ++i) push(port, QueueClass::kData, kData);
  // While 6, 5 and 4 wait; 3 are not more than the threshold.
  EXPECT_EQ(pop_marks(port), (std::vector{true, true, true, false, false, false}));
  EXPECT_EQ(counters_.marked, 3u);
}

// CC-48
TEST_F(EgressPortTest, MarksNeitherControlNorWhatIsNotCapable) {
  QueuePolicy policy = kNoMarks;
  policy.ecn_min_bytes = policy.ecn_max_bytes = 1;
  EgressPort port(policy, 1);
  const Bytes not_capable = write_packet(plain_route(), {.ecn = Ecn::kNotCapable});
  push(port, QueueClass::kControl, kData);  // capable, but trimmed, say
  push(port, QueueClass::kData, not_capable);
  EXPECT_EQ(pop(port), kData);
  EXPECT_EQ(pop(port), not_capable);
  EXPECT_EQ(counters_.marked, 0u);
}

TEST_F(EgressPortTest, MarksAsOftenAsTheQueueIsFull) {
  QueuePolicy policy = kNoMarks;
  policy.ecn_min_bytes = 0;
  policy.ecn_max_bytes = 4 * kDataSize;
  EgressPort port(policy, 1);
  push(port, QueueClass::kData, kData);
  constexpr std::uint64_t kPackets = 10'000;
  for (std::uint64_t i = 0; i < kPackets; ++i) {
    push(port, QueueClass::kData, kData);
    pop(port);  // two of four packets' worth wait: half of them are marked
  }
  EXPECT_NEAR(static_cast<double>(counters_.marked), kPackets / 2.0, kPackets / 50.0);
}

TEST_F(EgressPortTest, MarksAreAFunctionOfTheSeed) {
  QueuePolicy policy = kNoMarks;
  policy.ecn_max_bytes = 200 * kDataSize;
  const auto marks = [&](std::uint64_t seed) {
    EgressPort port(policy, seed);
    for (int i = 0; i < 200; ++i) push(port, QueueClass::kData, kData);
    return pop_marks(port);
  };
  EXPECT_EQ(marks(1), marks(1));
  EXPECT_NE(marks(1), marks(2));
}

TEST_F(EgressPortTest, JudgesByWhatWaits) {
  EgressPort port({.data_max_bytes = 2 * kDataSize, .control_max_bytes = 200}, 1);
  constexpr Treatment kTrimmable{.queue = QueueClass::kData, .trimmable = true};
  constexpr Treatment kAsControl{.queue = QueueClass::kControl};
  EXPECT_EQ(port.judge(kTrimmable, kDataSize), Verdict::kQueue);
  push(port, QueueClass::kData, kData);
  EXPECT_EQ(port.judge(kTrimmable, kDataSize), Verdict::kQueue);
  push(port, QueueClass::kData, kData);
  EXPECT_EQ(port.judge(kTrimmable, kDataSize), Verdict::kTrim);
  EXPECT_EQ(port.judge({}, kDataSize), Verdict::kDropData);
  EXPECT_EQ(port.judge(kAsControl, 100), Verdict::kQueue);
  push(port, QueueClass::kControl, kControl);
  EXPECT_EQ(port.judge(kAsControl, 200), Verdict::kDropControl);
}

}  // namespace
}  // namespace openmrc::softswitch
