// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/field/reject.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <new>
#include <set>

namespace openmrc::wire {
namespace {

TEST(Reject, EveryReasonHasACounterOfItsOwnAndAText) {
  std::set<std::string_view> counters;
  for (const RejectInfo& info : kRejectTable) {
    EXPECT_TRUE(counters.insert(info.counter).second) << info.counter;
    EXPECT_FALSE(info.text.empty()) << info.counter;
  }
}

TEST(Reject, CountersAreNamesThatProgramsCanUse) {
  for (const RejectInfo& info : kRejectTable) {
    EXPECT_FALSE(info.counter.empty());
    EXPECT_TRUE(std::ranges::all_of(info.counter, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    })) << info.counter;
  }
}

TEST(Reject, EnumeratorsAndTableAreInTheSameOrder) {
  EXPECT_EQ(describe(Reject::kEthernetTruncated).counter, "ethernet_truncated");
  EXPECT_EQ(describe(Reject::kQueuePairReserved).counter, "queue_pair_reserved");
  EXPECT_EQ(describe(Reject::kIcrcMismatch).counter, "icrc_mismatch");
}

TEST(Reject, CountersStartAtZeroWhateverLayThereBefore) {
  alignas(RejectCounters) std::array<std::byte, sizeof(RejectCounters)> memory;
  memory.fill(std::byte{0xee});
  const auto* counters = new (memory.data()) RejectCounters;
  for (std::size_t i = 0; i < kRejectTable.size(); ++i) {
    EXPECT_EQ(counters->of(static_cast<Reject>(i)), 0u) << kRejectTable[i].counter;
  }
}

// WIRE-3
TEST(Reject, CountersCountEachReasonApart) {
  RejectCounters counters;
  counters.count(Reject::kIcrcMismatch);
  counters.count(Reject::kIcrcMismatch);
  counters.count(Reject::kEthernetTruncated);
  EXPECT_EQ(counters.of(Reject::kIcrcMismatch), 2u);
  EXPECT_EQ(counters.of(Reject::kEthernetTruncated), 1u);
  EXPECT_EQ(counters.of(Reject::kPadCount), 0u);
}

}  // namespace
}  // namespace openmrc::wire
