// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/message_part.h"

#include <gtest/gtest.h>

namespace openmrc::wire {
namespace {

constexpr Immediate kData{0x01020304};

TEST(MessagePart, SaysWhereInAMessageItStands) {
  struct Row {
    MessagePart part;
    Opcode opcode;
    bool begins;
    bool ends;
  };
  for (const Row& row : {Row{MessagePart::first(), Opcode::kWriteFirst, true, false},
                         Row{MessagePart::middle(), Opcode::kWriteMiddle, false, false},
                         Row{MessagePart::last(), Opcode::kWriteLast, false, true},
                         Row{MessagePart::last(kData), Opcode::kWriteLastImmediate, false, true},
                         Row{MessagePart::only(), Opcode::kWriteOnly, true, true},
                         Row{MessagePart::only(kData), Opcode::kWriteOnlyImmediate, true, true}}) {
    EXPECT_EQ(row.part.opcode(), row.opcode);
    EXPECT_EQ(row.part.begins_message(), row.begins) << name(row.opcode);
    EXPECT_EQ(row.part.ends_message(), row.ends) << name(row.opcode);
    EXPECT_EQ(MessagePart::of(row.opcode, kData), row.part) << name(row.opcode);
  }
}

// WIRE-56
TEST(MessagePart, HasAnImmediateOnlyIfItsOpcodeSaysSo) {
  EXPECT_EQ(MessagePart::last(kData).immediate(), kData);
  EXPECT_EQ(MessagePart::only(kData).immediate(), kData);
  EXPECT_EQ(MessagePart::of(Opcode::kWriteOnly, kData).immediate(), std::nullopt);
  EXPECT_EQ(MessagePart::first().immediate(), std::nullopt);
}

// QP-22
TEST(MessagePart, WritesAreTheFirstSixOpcodes) {
  for (const Opcode opcode : kOpcodes) {
    EXPECT_EQ(is_write(opcode), opcode < Opcode::kAcknowledge) << name(opcode);
  }
}

}  // namespace
}  // namespace openmrc::wire
