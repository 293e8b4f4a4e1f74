// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "openmrc/sim/scenario/test_scenario.h"
#include "openmrc/sim/search/evolution.h"
#include "openmrc/sim/search/fault_schedule.h"
#include "openmrc/sim/search/search_file.h"
#include "openmrc/sim/search/shrinker.h"

namespace openmrc::sim {
namespace {

using fabric::Fabric;

constexpr Picoseconds microseconds(std::int64_t n) { return Picoseconds(n * 1'000'000); }

SearchSpace small_space() {
  return {.fabric = *Fabric::make({.planes = 4, .racks = 4, .hosts_per_rack = 8, .uplinks = 8}),
          .kinds = {SearchedKind::kCut, SearchedKind::kLoss, SearchedKind::kSlow},
          .groups = {ElementGroup::kHostLinks, ElementGroup::kUplinks, ElementGroup::kT1s},
          .faults_max = 6,
          .begin = microseconds(10),
          .end = microseconds(500),
          .shortest = microseconds(1),
          .longest = microseconds(200),
          .loss_max_per_billion = 100'000'000,
          .speed_min_percent = 20};
}

void expect_within(const Schedule& schedule, const SearchSpace& space) {
  EXPECT_GE(schedule.size(), 1U);
  EXPECT_LE(schedule.size(), space.faults_max);
  EXPECT_TRUE(std::ranges::is_sorted(schedule, {}, &SearchedFault::at));
  for (const SearchedFault& fault : schedule) {
    EXPECT_LT(fault.index, size_of(fault.group, space.fabric));
    EXPECT_GE(fault.at, space.begin);
    EXPECT_LE(fault.at + fault.length, space.end);
    EXPECT_GE(fault.length, space.shortest);
    EXPECT_LE(fault.length, space.longest);
    EXPECT_EQ(fault.at.raw() % kScheduleStep.raw(), 0);
    EXPECT_LE(fault.loss_per_billion, space.loss_max_per_billion);
    EXPECT_GE(fault.speed_percent, space.speed_min_percent);
    EXPECT_EQ(fault.loss_per_billion > 0, fault.kind == SearchedKind::kLoss);
    EXPECT_EQ(fault.speed_percent < 100, fault.kind == SearchedKind::kSlow);
  }
}

// So many planes does some host lose at 100 us.
double planes_lost(const Schedule& schedule, const SearchSpace& space) {
  std::map<std::uint32_t, std::set<std::uint64_t>> planes;
  for (const SearchedFault& fault : schedule) {
    if (fault.kind != SearchedKind::kCut || fault.group != ElementGroup::kHostLinks) continue;
    if (fault.at > microseconds(100) || fault.at + fault.length <= microseconds(100)) continue;
    const auto link = std::get<fabric::LinkId>(element_of(fault.group, fault.index, space.fabric));
    planes[space.fabric.host_at(link.rack, link.port).raw()].insert(link.plane.raw());
  }
  std::size_t most = 0;
  for (const auto& [host, lost] : planes) most = std::max(most, lost.size());
  return static_cast<double>(most);
}

template <class Seeker>
std::size_t try_all(Seeker& seeker, const SearchSpace& space) {
  std::vector<double> harms;
  for (const Schedule& schedule : seeker.ask()) {
    expect_within(schedule, space);
    harms.push_back(planes_lost(schedule, space));
  }
  seeker.tell(harms);
  return harms.size();
}

TEST(FaultSchedule, AllAreWithinTheSpace) {
  const SearchSpace space = small_space();
  Rng rng(1);
  Schedule schedule = random_schedule(space, rng);
  for (int i = 0; i < 2'000; ++i) {
    expect_within(schedule, space);
    const Schedule other = random_schedule(space, rng);
    expect_within(other, space);
    schedule = i % 3 == 0 ? crossed(schedule, other, space, rng) : mutated(schedule, space, rng);
  }
}

TEST(FaultSchedule, EveryKindAndDirectionIsDrawn) {
  SearchSpace space = small_space();
  Rng rng(1);
  std::set<std::tuple<SearchedKind, ElementGroup, Direction>> seen;
  for (int i = 0; i < 500; ++i) {
    for (const SearchedFault& fault : random_schedule(space, rng)) {
      seen.insert({fault.kind, fault.group, fault.direction});
    }
  }
  EXPECT_EQ(seen.size(), 27U);
  space.directions = false;
  for (int i = 0; i < 50; ++i) {
    for (const SearchedFault& fault : random_schedule(space, rng)) {
      EXPECT_EQ(fault.direction, Direction::kBoth);
    }
  }
}

// What is run as a setting and what is written into a file are the same faults.
TEST(FaultSchedule, TextAndSettingSayTheSame) {
  const SearchSpace space = small_space();
  const std::string base = std::string(kFabric) + std::string(kWorkload);
  Rng rng(3);
  for (int i = 0; i < 20; ++i) {
    const Schedule schedule = random_schedule(space, rng);
    const Scenario from_file = scenario_of(base + schedule_text(schedule, space.fabric));
    const auto from_setting = parse_scenario(
        base, "test", read_test_file, {.settings = {schedule_setting(schedule, space.fabric)}});
    ASSERT_TRUE(from_setting) << to_string(from_setting.error());
    EXPECT_EQ(from_file.faults, from_setting->faults);
    EXPECT_GE(from_file.faults.size(), schedule.size());
    EXPECT_EQ(from_file.faults[0].from, schedule[0].at);
    EXPECT_EQ(from_file.faults[0].to, schedule[0].at + schedule[0].length);
  }
}

TEST(Evolution, FindsWhatChanceDoesNot) {
  const SearchSpace space = small_space();
  Evolution search(space, {.random = 1'000, .seed = 1});
  while (search.tried() < 20'000 && search.worst().harm < 4) try_all(search, space);
  EXPECT_LE(std::ranges::max(search.random_harms()), 2);
  EXPECT_EQ(search.random_harms().size(), 1'000U);
  EXPECT_EQ(search.worst().harm, 4);
  EXPECT_EQ(planes_lost(search.worst().schedule, space), 4);
}

TEST(Evolution, FollowsFromItsSeed) {
  const SearchSpace space = small_space();
  const auto asked = [&](std::uint64_t seed) {
    Evolution search(space, {.random = 50, .seed = seed});
    std::vector<Schedule> all;
    for (int i = 0; i < 40; ++i) {
      const std::vector<Schedule> schedules = search.ask();
      all.insert(all.end(), schedules.begin(), schedules.end());
      std::vector<double> harms;
      for (const Schedule& schedule : schedules) harms.push_back(planes_lost(schedule, space));
      search.tell(harms);
    }
    return all;
  };
  EXPECT_EQ(asked(1), asked(1));
  EXPECT_NE(asked(1), asked(2));
}

// With nothing to be found it begins anew, and what was found before is kept.
TEST(Evolution, BeginsAnewAndForgetsNothing) {
  const SearchSpace space = small_space();
  Evolution search(space, {.random = 10, .parents = 4, .children = 6});
  search.ask();
  std::vector<double> harms(10, -5);
  harms[7] = -1;
  search.tell(harms);
  std::set<std::size_t> sizes;
  for (int i = 0; i < 60; ++i) {
    const std::size_t asked = search.ask().size();
    sizes.insert(asked);
    search.tell(std::vector<double>(asked, -5));
  }
  EXPECT_EQ(sizes, (std::set<std::size_t>{6, 10}));
  EXPECT_EQ(search.worst().harm, -1);
}

TEST(Shrinker, LeavesWhatDoesTheHarm) {
  const SearchSpace space = small_space();
  const auto cut = [](ElementGroup group, std::uint64_t index, std::int64_t at, std::int64_t us) {
    return SearchedFault{.group = group,
                         .index = index,
                         .at = microseconds(at) + kScheduleStep * 3,
                         .length = microseconds(us)};
  };
  const Schedule found{
      cut(ElementGroup::kUplinks, 3, 20, 30), cut(ElementGroup::kHostLinks, 3, 20, 100),
      cut(ElementGroup::kHostLinks, 3 + 32, 60, 150), cut(ElementGroup::kHostLinks, 4, 60, 100),
      cut(ElementGroup::kT1s, 4, 90, 20)};
  Shrinker shrinker(space, {.schedule = found, .harm = 2}, 2);
  std::size_t rounds = 0;
  while (try_all(shrinker, space) > 0) ASSERT_LT(++rounds, 200U);
  const Tried& simplest = shrinker.simplest();
  EXPECT_EQ(simplest.harm, 2);
  ASSERT_EQ(simplest.schedule.size(), 2U);
  for (const SearchedFault& fault : simplest.schedule) {
    EXPECT_EQ(fault.group, ElementGroup::kHostLinks);
    EXPECT_LE(fault.length, microseconds(3));
  }
}

TEST(Shrinker, KeepsAllIfNothingSimplerDoesAsMuch) {
  const SearchSpace space = small_space();
  Rng rng(1);
  const Tried found{.schedule = random_schedule(space, rng), .harm = 7};
  Shrinker shrinker(space, found, 6.5);
  shrinker.tell(std::vector<double>(shrinker.ask().size(), 6.4));
  EXPECT_EQ(shrinker.simplest(), found);
  EXPECT_TRUE(shrinker.ask().empty());
}

constexpr std::string_view kSearch = R"(
title = "Worst"
scenario = "x.toml"
figure = "end_ps"
kinds = ["cut", "loss"]
of = ["host-links", "t1"]
faults = 5
window = ["10 us", "1 ms"]
longest = "300 us"
highest_rate = "20 %"
slowest = "30 %"
unfinished = "skipped"
random = 100
seed = 9
)";

std::string search_error(const std::string& text) {
  const auto file = parse_search_file(text);
  return file ? "" : to_string(file.error());
}

TEST(SearchFile, IsRead) {
  const auto file = parse_search_file(kSearch);
  ASSERT_TRUE(file) << to_string(file.error());
  EXPECT_EQ(file->figure, "end_ps");
  EXPECT_FALSE(file->least_is_worst);
  EXPECT_TRUE(file->skip_unfinished);
  EXPECT_EQ(file->evolution.seed, 9U);
  EXPECT_EQ(file->evolution.random, 100U);
  const SearchSpace like = small_space();
  const auto space = space_of(*file, like.fabric);
  ASSERT_TRUE(space) << space.error();
  EXPECT_EQ(space->kinds, (std::vector{SearchedKind::kCut, SearchedKind::kLoss}));
  EXPECT_EQ(space->groups, (std::vector{ElementGroup::kHostLinks, ElementGroup::kT1s}));
  EXPECT_EQ(space->faults_max, 5U);
  EXPECT_EQ(space->begin, microseconds(10));
  EXPECT_EQ(space->end, microseconds(1'000));
  EXPECT_EQ(space->longest, microseconds(300));
  EXPECT_EQ(space->loss_max_per_billion, 200'000'000U);
  EXPECT_EQ(space->speed_min_percent, 30);
}

TEST(SearchFile, WhatIsWrongIsNamed) {
  const std::string text(kSearch);
  const auto without = [&](std::string_view line) {
    std::string rest = text;
    const std::size_t at = rest.find(line);
    rest.erase(at, rest.find('\n', at) - at);
    return rest;
  };
  EXPECT_NE(search_error(without("scenario")).find("scenario: "), std::string::npos);
  EXPECT_NE(search_error(without("window")).find("window: "), std::string::npos);
  EXPECT_NE(search_error(without("figure") + "figure = \"speed\"\n").find("goodput_bps"),
            std::string::npos);
  EXPECT_NE(search_error(without("window") + "window = [\"1 ms\", 0]\n").find("earlier one first"),
            std::string::npos);
  EXPECT_NE(search_error(without("of =") + "of = [\"t3\"]\n").find("of: "), std::string::npos);
  EXPECT_NE(search_error(text + "shortest = \"1 ms\"\n").find("longest: is below shortest"),
            std::string::npos);
  EXPECT_NE(search_error(text + "speeds = 1\n").find("speeds"), std::string::npos);
  const auto file = parse_search_file(text);
  const auto space =
      space_of(*file, *Fabric::make({.planes = 2, .racks = 1, .hosts_per_rack = 4, .uplinks = 0}));
  ASSERT_FALSE(space);
  EXPECT_NE(space.error().find("has no t1"), std::string::npos);
}

}  // namespace
}  // namespace openmrc::sim
