// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/context/counters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "openmrc/core/context/trace.h"

namespace openmrc::core {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

// Words of small letters and digits, joined by single characters.
bool is_joined_by(char joint, std::string_view name) {
  const auto fits = [joint](char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == joint; };
  return !name.empty() && is_lower(name.front()) && name.back() != joint &&
         std::ranges::all_of(name, fits) &&
         std::ranges::adjacent_find(
             name, [joint](char a, char b) { return a == joint && b == joint; }) == name.end();
}

TEST(Counters, EveryCounterHasANameOfItsOwnAndAText) {
  std::set<std::string_view> names;
  std::set<std::string_view> texts;
  for (const CounterInfo& info : kCounterTable) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_TRUE(texts.insert(info.text).second) << info.name;
    EXPECT_FALSE(info.text.empty()) << info.name;
  }
}

TEST(Counters, NamesAreSnakeCaseThatProgramsCanUse) {
  for (const CounterInfo& info : kCounterTable) {
    EXPECT_TRUE(is_joined_by('_', info.name)) << info.name;
  }
}

TEST(Counters, TextsSayWhetherSomethingWasDropped) {
  for (const CounterInfo& info : kCounterTable) {
    if (!info.name.starts_with("drop_")) continue;
    const std::string_view what = info.text.substr(0, info.text.find(':'));
    EXPECT_TRUE(what == "dropped" || what == "ignored" || what == "not sent") << info.name;
  }
}

TEST(Counters, EnumeratorsAndTableAreInTheSameOrder) {
  EXPECT_EQ(describe(Count::kDataSent).name, "data_sent");
  EXPECT_EQ(describe(Count::kRetransmitsForAck).name, "retransmits_for_ack");
  EXPECT_EQ(describe(Count::kDropControlFull).name, "drop_control_full");
  EXPECT_EQ(static_cast<std::size_t>(Count::kDropUnreadable) + 1, kCounterTable.size());
}

TEST(Counters, CountEachApartFromZeroOn) {
  Counters counters;
  for (std::size_t i = 0; i < kCounterTable.size(); ++i) {
    EXPECT_EQ(counters.of(static_cast<Count>(i)), 0u) << kCounterTable[i].name;
  }
  counters.add(Count::kDataSent);
  counters.add(Count::kDataSent);
  counters.add(Count::kBytesPlaced, 1u << 30);
  counters.add(Count::kBytesPlaced, std::uint64_t{1} << 33);
  EXPECT_EQ(counters.of(Count::kDataSent), 2u);
  EXPECT_EQ(counters.of(Count::kBytesPlaced), (std::uint64_t{1} << 33) + (1u << 30));
  EXPECT_EQ(counters.of(Count::kDataReceived), 0u);
}

TEST(Counters, CountEachPlaneApart) {
  Counters counters;
  for (std::uint8_t plane = 0; plane < kPlanesMax; ++plane) {
    for (int i = 0; i <= plane; ++i) counters.add_sent(Plane(plane));
    counters.add_received(Plane(plane));
  }
  for (std::uint8_t plane = 0; plane < kPlanesMax; ++plane) {
    EXPECT_EQ(counters.sent(Plane(plane)), plane + 1u);
    EXPECT_EQ(counters.received(Plane(plane)), 1u);
  }
}

TEST(Trace, EveryKindHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kTraceKindCount; ++i) {
    const std::string_view kind = name(static_cast<TraceKind>(i));
    EXPECT_TRUE(names.insert(kind).second) << kind;
    EXPECT_TRUE(is_joined_by('-', kind)) << kind;
  }
  EXPECT_EQ(name(TraceKind::kSent), "sent");
  EXPECT_EQ(name(TraceKind::kProbe), "probe");
  EXPECT_EQ(name(TraceKind::kQueuePair), "queue-pair");
  EXPECT_EQ(static_cast<std::size_t>(TraceKind::kQueuePair) + 1, kTraceKindCount);
}

}  // namespace
}  // namespace openmrc::core
