// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/counters.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

namespace openmrc::datapath {
namespace {

TEST(DatapathCounters, CountEachThingApart) {
  Counters counters;
  counters.add(Count::kPacketsSent, 3);
  counters.add(Count::kPacketsSent);
  counters.add(wire::Reject::kIcrcMismatch);
  EXPECT_EQ(counters.of(Count::kPacketsSent), 4u);
  EXPECT_EQ(counters.of(Count::kPacketsReceived), 0u);
  EXPECT_EQ(counters.of(wire::Reject::kIcrcMismatch), 1u);
  EXPECT_EQ(counters.of(wire::Reject::kPadCount), 0u);
}

TEST(DatapathCounters, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const CounterInfo& info : kCounterTable) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.text.empty()) << info.name;
  }
  EXPECT_EQ(describe(Count::kForwarded).name, "forwarded");
}

}  // namespace
}  // namespace openmrc::datapath
