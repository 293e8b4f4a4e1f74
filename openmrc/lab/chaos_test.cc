// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/chaos.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "openmrc/lab/layout.h"
#include "openmrc/lab/test_spec.h"

namespace openmrc::lab {
namespace {

constexpr Duration kSpan = seconds(60);
constexpr std::uint64_t kSeeds = 200;

Spec lab_of(std::uint32_t planes) {
  Spec spec = small_lab();
  spec.shape.planes = planes;
  return spec;
}

// The planes that a fault takes something from.
std::set<std::uint8_t> planes_of(const Spec& spec, const ChaosFault& fault) {
  std::set<std::uint8_t> planes;
  for (const auto& link : links_of(spec.fabric(), fault.what)) planes.insert(link.plane.raw());
  return planes;
}

// The planes that are not whole at the time.
std::set<std::uint8_t> broken_at(const Spec& spec, const std::vector<ChaosFault>& faults,
                                 Duration time) {
  std::set<std::uint8_t> broken;
  for (const ChaosFault& fault : faults) {
    if (fault.at <= time && time <= fault.end) broken.merge(planes_of(spec, fault));
  }
  return broken;
}

TEST(Chaos, TheSameSeedGivesTheSameFaults) {
  const Spec spec = lab_of(4);
  const auto faults = draw_chaos(spec, 7, kSpan);
  EXPECT_FALSE(faults.empty());
  EXPECT_EQ(draw_chaos(spec, 7, kSpan), faults);
  EXPECT_NE(draw_chaos(spec, 8, kSpan), faults);
}

TEST(Chaos, FaultsAreSortedAndOverInTime) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const auto faults = draw_chaos(lab_of(4), seed, kSpan);
    EXPECT_TRUE(std::ranges::is_sorted(faults, {}, &ChaosFault::at)) << "seed " << seed;
    for (const ChaosFault& fault : faults) {
      EXPECT_GE(fault.at, Duration{}) << "seed " << seed;
      EXPECT_LT(fault.at, fault.end) << "seed " << seed;
      EXPECT_LE(fault.end, kSpan) << "seed " << seed;
    }
  }
}

TEST(Chaos, OnePlaneIsWholeAtAnyTime) {
  for (const std::uint32_t planes : {2U, 4U}) {
    const Spec spec = lab_of(planes);
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const auto faults = draw_chaos(spec, seed, kSpan);
      // What is broken grows only when a fault begins.
      for (const ChaosFault& fault : faults) {
        EXPECT_LT(broken_at(spec, faults, fault.at).size(), planes) << "seed " << seed;
      }
    }
  }
}

TEST(Chaos, ALabOfOnePlaneIsLeftAlone) { EXPECT_TRUE(draw_chaos(lab_of(1), 1, kSpan).empty()); }

TEST(Chaos, AShortTimeHasRoomForNoFault) {
  EXPECT_TRUE(draw_chaos(lab_of(2), 1, milliseconds(49)).empty());
}

TEST(Chaos, EveryKindOfFaultIsDrawn) {
  std::set<Fault::Kind> kinds;
  std::set<std::size_t> elements;
  bool flaps = false;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const ChaosFault& fault : draw_chaos(lab_of(4), seed, kSpan)) {
      kinds.insert(fault.fault.kind);
      elements.insert(fault.what.index());
      flaps |= fault.flaps_hz > 0;
    }
  }
  EXPECT_EQ(kinds, (std::set{Fault::Kind::kCut, Fault::Kind::kPort, Fault::Kind::kSilent}));
  EXPECT_EQ(elements.size(), 3U) << "planes, switches and links";
  EXPECT_TRUE(flaps);
}

TEST(Chaos, AFaultReadsAsTheCommandThatMakesIt) {
  const auto link = fabric::parse_element(small_lab().fabric(), "p1.t0-1/up0").value();
  ChaosFault fault{.at = milliseconds(100), .end = milliseconds(520), .what = link};
  EXPECT_EQ(to_string(fault), "cut p1.t0-1/up0 for 420ms");
  fault.fault.kind = Fault::Kind::kPort;
  EXPECT_EQ(to_string(fault), "cut p1.t0-1/up0 --admin for 420ms");
  fault.fault = {.kind = Fault::Kind::kSilent, .loss = 250};
  EXPECT_EQ(to_string(fault), "cut p1.t0-1/up0 --loss 2.5% for 420ms");
  fault.fault = {};
  fault.flaps_hz = 4;
  EXPECT_EQ(to_string(fault), "cut p1.t0-1/up0 4 times a second for 420ms");
}

}  // namespace
}  // namespace openmrc::lab
