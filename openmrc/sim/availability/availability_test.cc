// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "openmrc/base/rng.h"
#include "openmrc/sim/availability/availability_file.h"
#include "openmrc/sim/availability/availability_report.h"
#include "openmrc/sim/availability/fabric_states.h"
#include "openmrc/sim/availability/weighted_mean.h"
#include "openmrc/sim/scenario/test_scenario.h"
#include "openmrc/sim/workload/random_lengths.h"

namespace openmrc::sim {
namespace {

const std::vector<UnreliableParts> kSomeParts{
    {.group = ElementGroup::kUplinks, .count = 100, .mtbf_hours = 990, .mttr_hours = 10},
    {.group = ElementGroup::kT1s, .count = 8, .mtbf_hours = 9'999, .mttr_hours = 1}};

TEST(FabricStates, ProbabilitiesAreThoseOfTheBinomialDistribution) {
  EXPECT_NEAR(probability_down(100, 0, 0.01), std::pow(0.99, 100), 1e-12);
  EXPECT_NEAR(probability_down(100, 1, 0.01), 100 * 0.01 * std::pow(0.99, 99), 1e-12);
  double sum = 0;
  for (std::uint64_t down = 0; down <= 100; ++down) sum += probability_down(100, down, 0.3);
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(probability_down(5, 0, 0), 1);
  EXPECT_EQ(probability_down(5, 1, 0), 0);
  EXPECT_EQ(probability_down(5, 5, 1), 1);
}

TEST(FabricStates, TheMostProbableComeFirstAndNoneTwice) {
  const auto states = probable_states(kSomeParts, 0.9999, 1'000);
  std::set<std::vector<std::uint64_t>> seen;
  double sum = 0;
  for (std::size_t i = 0; i < states.size(); ++i) {
    EXPECT_TRUE(seen.insert(states[i].down).second);
    EXPECT_TRUE(i == 0 || states[i].probability <= states[i - 1].probability);
    EXPECT_NEAR(states[i].probability,
                probability_down(100, states[i].down[0], 0.01) *
                    probability_down(8, states[i].down[1], 0.0001),
                1e-15);
    sum += states[i].probability;
  }
  EXPECT_GE(sum, 0.9999);
  EXPECT_LT(sum - states.back().probability, 0.9999);
  EXPECT_TRUE(seen.contains({1, 1}));
}

TEST(FabricStates, AllOfThemHaveAllOfTheTime) {
  const std::vector<UnreliableParts> parts{
      {.group = ElementGroup::kT0s, .count = 5, .mtbf_hours = 1, .mttr_hours = 2},
      {.group = ElementGroup::kT1s, .count = 3, .mtbf_hours = 1, .mttr_hours = 1}};
  const auto states = probable_states(parts, 2, 1'000);
  EXPECT_EQ(states.size(), 6U * 4);
  double sum = 0;
  for (const FabricState& state : states) sum += state.probability;
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(probable_states(parts, 2, 7).size(), 7U);
}

TEST(FabricStates, AStateIsASettingOfAScenario) {
  const FabricState state{.down = {3, 1}};
  const auto scenario =
      parse_scenario(std::string(kFabric) + std::string(kWorkload), "test", read_test_file,
                     {.settings = {state_setting(kSomeParts, state)}});
  ASSERT_TRUE(scenario) << to_string(scenario.error());
  EXPECT_EQ(scenario->faults.size(), 3U + 4);  // a T1 has links to four T0s
  for (const LinkFault& fault : scenario->faults) {
    EXPECT_TRUE(fault.down);
    EXPECT_EQ(fault.from, Picoseconds{});
    EXPECT_EQ(fault.to, kNoTime);
  }
  EXPECT_EQ(state_setting(kSomeParts, {.down = {0, 0}}), "fault=[]");
}

TEST(WeightedMean, IsTheMeanByProbability) {
  const std::vector<Stratum> strata{{0.9, {10, 10}}, {0.09, {5, 5, 5}}};
  const auto mean = weighted_mean(strata);
  ASSERT_TRUE(mean);
  EXPECT_NEAR(mean->mean, (0.9 * 10 + 0.09 * 5) / 0.99, 1e-12);
  EXPECT_EQ(mean->low, mean->mean);
  EXPECT_EQ(mean->high, mean->mean);
  EXPECT_FALSE(weighted_mean(std::vector<Stratum>{{0.9, {1, 2}}, {0.1, {1}}}));
  EXPECT_FALSE(weighted_mean({}));
}

TEST(WeightedMean, OneStateIsStudentsInterval) {
  const auto mean = weighted_mean(std::vector<Stratum>{{0.5, {1, 2, 3, 4}}});
  ASSERT_TRUE(mean);
  // t = 3.182 with 3 degrees of freedom, deviation of the mean sqrt(5/3/4).
  EXPECT_NEAR(mean->high - mean->mean, 3.182 * std::sqrt(5.0 / 12), 0.03);
  EXPECT_NEAR(mean->mean - mean->low, mean->high - mean->mean, 1e-12);
  EXPECT_NEAR(student_95(1), 12.706, 1e-9);
  EXPECT_NEAR(student_95(4), 2.776, 0.02);
  EXPECT_NEAR(student_95(10), 2.228, 0.002);
  EXPECT_NEAR(student_95(1e9), 1.96, 1e-4);
}

// Many experiments, of each of which the mean is known: the interval holds it in 95 % of them.
TEST(WeightedMean, TheIntervalHoldsTheMeanAsOftenAsItSays) {
  Rng rng(7);
  const auto normal = [&] { return static_cast<double>(draw_normal(rng)) / kFixedOne; };
  constexpr int kExperiments = 2'000;
  int held = 0;
  for (int i = 0; i < kExperiments; ++i) {
    std::vector<Stratum> strata{{0.7, {}}, {0.2, {}}, {0.1, {}}};
    for (int run = 0; run < 5; ++run) {
      strata[0].values.push_back(100 + normal());
      strata[1].values.push_back(80 + 5 * normal());
      strata[2].values.push_back(50 + 10 * normal());
    }
    const auto mean = weighted_mean(strata);
    if (mean->low <= 91 && mean->high >= 91) ++held;  // 70 + 16 + 5
  }
  EXPECT_NEAR(held / static_cast<double>(kExperiments), 0.95, 0.02);
}

constexpr std::string_view kAvailability = R"(
title = "Cheap optics"
scenario = "x.toml"
seeds = 3
mass = "99 %"
[[parts]]
of = "uplinks"
mtbf_hours = 5000
mttr_hours = 0.5
[[parts]]
of = "t1"
mtbf_hours = 100000
mttr_hours = 12
)";

std::string availability_error(const std::string& text) {
  const auto file = parse_availability_file(text);
  return file ? "" : to_string(file.error());
}

TEST(AvailabilityFile, IsRead) {
  auto file = parse_availability_file(kAvailability);
  ASSERT_TRUE(file) << to_string(file.error());
  EXPECT_EQ(file->seeds, 3U);
  EXPECT_NEAR(file->mass, 0.99, 1e-12);
  ASSERT_EQ(file->parts.size(), 2U);
  EXPECT_EQ(file->parts[0].mttr_hours, 0.5);
  EXPECT_EQ(file->parts[1].group, ElementGroup::kT1s);
  const auto fabric =
      *fabric::Fabric::make({.planes = 4, .racks = 4, .hosts_per_rack = 8, .uplinks = 8});
  EXPECT_TRUE(count_parts(*file, fabric));
  EXPECT_EQ(file->parts[0].count, 128U);
  EXPECT_EQ(file->parts[1].count, 32U);
}

TEST(AvailabilityFile, WhatIsWrongIsNamed) {
  const std::string text(kAvailability);
  EXPECT_NE(availability_error("scenario = \"x.toml\"\n").find("[[parts]]"), std::string::npos);
  EXPECT_NE(availability_error(text + "[[parts]]\nof = \"t1\"\nmtbf_hours = 1\nmttr_hours = 1\n")
                .find("is there twice"),
            std::string::npos);
  EXPECT_NE(availability_error(text + "[[parts]]\nof = \"t0\"\nmtbf_hours = 0\nmttr_hours = 1\n")
                .find("mtbf_hours: must be hours"),
            std::string::npos);
  EXPECT_NE(
      availability_error(text + "[[parts]]\nof = \"t0\"\nmtbf_hours = \"5 h\"\nmttr_hours = 1\n")
          .find("mtbf_hours: must be hours"),
      std::string::npos);
  EXPECT_NE(availability_error("seeds = 1\n" + text.substr(text.find("[[parts]]"))).find("seeds"),
            std::string::npos);
  auto file = parse_availability_file(text);
  const auto one_rack =
      *fabric::Fabric::make({.planes = 2, .racks = 1, .hosts_per_rack = 4, .uplinks = 0});
  const auto counted = count_parts(*file, one_rack);
  ASSERT_FALSE(counted);
  EXPECT_NE(counted.error().find("has no uplinks"), std::string::npos);
}

Availability small_availability() {
  const auto goodput = *find_measure("goodput_bps");
  const auto run = [&](double value) {
    Measured figures(measures().size());
    figures[goodput] = value;
    return figures;
  };
  return {
      .title = "Small",
      .parts = kSomeParts,
      .states = {{.state = {.down = {0, 0}, .probability = 0.9}, .runs = {run(4e12), run(4e12)}},
                 {.state = {.down = {1, 0}, .probability = 0.09},
                  .runs = {run(3e12), run(3e12)},
                  .unfinished = 1}}};
}

TEST(AvailabilityReport, SaysWhatIsExpectedAndWhatWasLeftOut) {
  const std::string text = availability_text(small_availability(), {*find_measure("goodput_bps")});
  EXPECT_NE(text.find("uplinks down  t1 down  probability"), std::string::npos) << text;
  EXPECT_NE(text.find("goodput: 3.91 Tb/s [3.91 Tb/s, 3.91 Tb/s]; whatever happens in the other "
                      "states, 3.87 Tb/s to 3.91 Tb/s"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("states that were not run have 1 % of the time"), std::string::npos) << text;
}

TEST(AvailabilityReport, JsonHasAllFigures) {
  const auto json = nlohmann::json::parse(availability_json(small_availability()));
  EXPECT_EQ(json["format"], "openmrc-availability");
  EXPECT_NEAR(json["expected"]["goodput_bps"]["mean"], (0.9 * 4e12 + 0.09 * 3e12) / 0.99, 1);
  EXPECT_FALSE(json["expected"].contains("step_max_ps"));
  EXPECT_NEAR(json["not_run"], 0.01, 1e-9);
  EXPECT_EQ(json["states"][1]["down"], (std::vector<int>{1, 0}));
  EXPECT_EQ(json["states"][1]["unfinished"], 1);
  EXPECT_EQ(json["parts"][0]["of"], "uplinks");
}

}  // namespace
}  // namespace openmrc::sim
