// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/experiment/sweep_file.h"

#include <gtest/gtest.h>

#include <string>

namespace openmrc::sim {
namespace {

using Texts = std::vector<std::string>;

SweepFile sweep_of(std::string_view text) {
  auto sweep = parse_sweep_file(text);
  EXPECT_TRUE(sweep) << to_string(sweep.error());
  return sweep ? *sweep : SweepFile{};
}

std::string error_of(std::string_view text) {
  const auto sweep = parse_sweep_file(text);
  return sweep ? "none" : to_string(sweep.error());
}

TEST(SweepFile, GridIsEveryCombination) {
  const SweepFile sweep = sweep_of(R"(
title = "T"
scenario = "a.toml"
seeds = 10
[grid]
fabric.planes = [4, 8]
"workload.bytes" = ["1 MiB", "8 MiB", 5]
)");
  EXPECT_EQ(sweep.title, "T");
  EXPECT_EQ(sweep.scenario, "a.toml");
  EXPECT_EQ(sweep.axes, (Texts{"fabric.planes", "workload.bytes"}));
  ASSERT_EQ(sweep.variants.size(), 6U);
  EXPECT_EQ(sweep.variants[1].values, (Texts{"4", "8 MiB"}));
  EXPECT_EQ(sweep.variants[1].settings, (Texts{"fabric.planes=4", "workload.bytes=\"8 MiB\""}));
  EXPECT_EQ(sweep.variants[5].settings, (Texts{"fabric.planes=8", "workload.bytes=5"}));
  EXPECT_EQ(sweep.runs(), 60U);
}

TEST(SweepFile, RunsAreAListAndCrossTheGrid) {
  const SweepFile sweep = sweep_of(R"(
scenario = "a.toml"
seeds = [3, 9]
[[runs]]
name = "wide"
[runs.set]
fabric = { planes = 8, link_gbps = 100 }
fault = []
[[runs]]
name = "RoCE"
transport = "rc"
[grid]
switches.ecn = [true, false]
)");
  EXPECT_EQ(sweep.axes, (Texts{"run", "switches.ecn"}));
  ASSERT_EQ(sweep.variants.size(), 4U);
  EXPECT_EQ(sweep.variants[0], (SweepVariant{.values = {"wide", "true"},
                                             .settings = {"fabric.planes=8", "fabric.link_gbps=100",
                                                          "fault=[]", "switches.ecn=true"}}));
  EXPECT_EQ(sweep.variants[3], (SweepVariant{.values = {"RoCE", "false"},
                                             .settings = {"switches.ecn=false"},
                                             .transport = "rc"}));
  EXPECT_EQ(sweep.seeds, (std::vector<std::uint64_t>{3, 9}));
  EXPECT_EQ(sweep.runs(), 8U);
}

TEST(SweepFile, WithoutAxesIsOneRun) {
  const SweepFile sweep = sweep_of("scenario = 'a.toml'\n");
  EXPECT_EQ(sweep.runs(), 1U);
  EXPECT_EQ(sweep.variants, std::vector<SweepVariant>{{}});
}

TEST(SweepFile, ErrorsSayWhatAndWhere) {
  const std::string base = "scenario = 'a.toml'\n";
  EXPECT_EQ(error_of(""), "scenario: is missing");
  EXPECT_EQ(error_of(base + "sedes = 3\n"), "line 2: unknown key 'sedes': did you mean 'seeds'?");
  EXPECT_EQ(error_of(base + "seeds = [1, 1]\n"), "line 2: seeds: 1 is there twice");
  EXPECT_EQ(error_of(base + "seeds = []\n"),
            "line 2: seeds: a number of seeds, or a list of at least one");
  EXPECT_EQ(error_of(base + "[grid]\nfabric.planes = 4\n"),
            "line 3: grid: fabric.planes is an axis: a list of at least one value");
  EXPECT_EQ(error_of(base + "[grid]\nfabric.planes = [4]\n'fabric.planes' = [5]\n"),
            "line 4: grid: fabric.planes is there twice");
  EXPECT_EQ(error_of(base + "[grid]\nseed = [2026-01-01]\n"),
            "line 3: grid: no scenario has a date");
  EXPECT_EQ(error_of(base + "grid = 5\n"),
            "line 2: grid: is a section: write [grid] and its axes below");
  EXPECT_EQ(error_of(base + "[[runs]]\nset = 5\n"),
            "line 2: runs.name: is missing\n"
            "line 3: runs.set: is a table of keys of the scenario: { fabric.planes = 8 }");
  EXPECT_EQ(error_of(base + "[[runs]]\nname = 'a'\n[[runs]]\nname = 'a'\n"),
            "line 5: runs.name: 'a' is there twice");
}

TEST(SweepFile, HasALimit) {
  std::string text = "scenario = 'a.toml'\n[grid]\n";
  for (const char* key : {"a", "b", "c", "d", "e", "f"}) {
    text += std::string(key) + " = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n";
  }
  EXPECT_EQ(error_of(text), "line 8: grid: more than 100,000 runs");
  const std::string numbers = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n";
  EXPECT_EQ(error_of("scenario = 'a.toml'\n[grid]\na = " + numbers + "b = " + numbers + "c = ['" +
                     std::string(3'000'000, 'x') + "']\n"),
            "line 5: grid: the settings of all runs together are too long");
  EXPECT_EQ(
      error_of("scenario = 'a.toml'\nseeds = 60000\n[[runs]]\nname='a'\n[[runs]]\nname='b'\n"),
      "seeds: 120,000 runs are more than 100,000");
}

}  // namespace
}  // namespace openmrc::sim
