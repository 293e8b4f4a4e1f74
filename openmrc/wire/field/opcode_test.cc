// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/field/opcode.h"

#include <gtest/gtest.h>

#include <set>

namespace openmrc::wire {
namespace {

// WIRE-47, UD-1
TEST(Opcode, TheBlockOfMrcHasTwelveDefinedValuesAndDatagramsHaveTwo) {
  // Written out again, so that a change of the table needs a change here.
  const std::set<unsigned> mrc{0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb,
                               0xd1, 0xd8, 0xd9, 0xdc, 0xdd, 0xde};
  const std::set<unsigned> datagrams{0x64, 0x65};
  EXPECT_EQ(kOpcodes.size(), mrc.size());
  for (unsigned raw = 0; raw < 256; ++raw) {
    EXPECT_EQ(is_mrc_opcode(static_cast<std::uint8_t>(raw)), raw >= 0xc0 && raw < 0xe0) << raw;
    EXPECT_EQ(is_datagram(static_cast<Opcode>(raw)), datagrams.contains(raw)) << raw;
    EXPECT_EQ(is_defined_opcode(static_cast<std::uint8_t>(raw)),
              mrc.contains(raw) || datagrams.contains(raw))
        << raw;
  }
}

TEST(Opcode, EveryDefinedValueHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const Opcode opcode : kOpcodes) EXPECT_TRUE(names.insert(name(opcode)).second);
  EXPECT_TRUE(names.insert(name(Opcode::kUdSendOnly)).second);
  EXPECT_TRUE(names.insert(name(Opcode::kUdSendOnlyImmediate)).second);
  EXPECT_FALSE(names.contains(""));
  EXPECT_EQ(name(static_cast<Opcode>(0xcc)), "");
}

}  // namespace
}  // namespace openmrc::wire
