// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/forwarding.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace openmrc::datapath {
namespace {

// A message of one record with `there` bytes behind it.
std::vector<std::byte> message_of(const ForwardRecord& record, std::size_t there) {
  std::vector<std::byte> message(sizeof record + there);
  std::memcpy(message.data(), &record, sizeof record);
  return message;
}

TEST(ReadForwarded, GivesTheRecordAndWhereThePacketLies) {
  ForwardRecord record{.size = 20, .arrival = {.flow_label = kFlowLabelMax}, .plane = Plane(3)};
  const auto forwarded = read_forwarded(message_of(record, 25), 0);
  ASSERT_TRUE(forwarded);
  EXPECT_EQ(forwarded->record.plane, Plane(3));
  EXPECT_EQ(forwarded->record.arrival, record.arrival);
  EXPECT_EQ(forwarded->at, sizeof record);
  EXPECT_EQ(forwarded->next, sizeof record + 20);
}

TEST(ReadForwarded, RefusesWhatIsCutOrOfAnotherBuild) {
  ForwardRecord record{.size = 20};
  EXPECT_FALSE(read_forwarded(message_of(record, 19), 0));
  EXPECT_FALSE(read_forwarded(message_of(record, 20), 1));
  EXPECT_FALSE(read_forwarded(message_of(record, 20), 1000));
  record.tag ^= 1;
  EXPECT_FALSE(read_forwarded(message_of(record, 20), 0));
}

// Found by fuzzing: it would not fit into the header that is made of it.
TEST(ReadForwarded, RefusesAFlowLabelThatIsNone) {
  const ForwardRecord record{.size = 20, .arrival = {.flow_label = kFlowLabelMax + 1}};
  EXPECT_FALSE(read_forwarded(message_of(record, 20), 0));
}

}  // namespace
}  // namespace openmrc::datapath
