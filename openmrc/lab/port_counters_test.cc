// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/port_counters.h"

#include <gtest/gtest.h>

namespace openmrc::lab {
namespace {

TEST(PortCounters, AreThoseOfThePortsByNumber) {
  const std::string text =
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
      "    lo:       7       1    0    0    0     0          0         0        7       1\n"
      "    p1: 1234567     890    0    0    0     0          0         0      111       2\n"
      "    p0:18446744073709551615 1    0    0    0     0          0         0      111       2\n"
      "   p10:     999       3    0    0    0     0          0         0      111       2\n"
      "  mgmt:     555       3    0    0    0     0          0         0      111       2\n";
  EXPECT_EQ(read_received_bytes(text, 3),
            (std::vector<std::uint64_t>{18'446'744'073'709'551'615U, 1'234'567, 0}));
  EXPECT_EQ(read_received_bytes("", 2), (std::vector<std::uint64_t>{0, 0}));
}

}  // namespace
}  // namespace openmrc::lab
