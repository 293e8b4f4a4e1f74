// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/experiment/sweep_plan.h"

#include <gtest/gtest.h>

#include <string>

namespace openmrc::sim {
namespace {

SweepPlan sample_plan() {
  return {.title = "A \"plan\"",
          .axes = {"run", "fabric.planes"},
          .runs = {{.values = {"a", "4"}, .seed = 3, .hash = std::string(64, 'a')},
                   {.values = {"b", "8"}, .seed = 4, .hash = std::string(64, 'b')}}};
}

std::string with(std::string_view old, std::string_view fresh) {
  std::string text = write_plan_json(sample_plan());
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return text.replace(at, old.size(), fresh);
}

std::string error_of(const std::string& text) {
  const auto plan = read_plan_json(text);
  return plan ? "none" : plan.error();
}

TEST(SweepPlan, ComesBackFromItsFile) {
  const auto plan = read_plan_json(write_plan_json(sample_plan()));
  ASSERT_TRUE(plan) << plan.error();
  EXPECT_EQ(*plan, sample_plan());
}

TEST(SweepPlan, NamesItsRuns) {
  const SweepPlan plan = sample_plan();
  EXPECT_EQ(name_of(plan, plan.runs[1]), "run=b, fabric.planes=8, seed 4");
  EXPECT_EQ(file_of(plan.runs[0]), "aaaaaaaaaaaaaaaa.json");
}

TEST(SweepPlan, ThatIsNoneIsRefused) {
  EXPECT_EQ(error_of("{"), "its \"format\" is not \"openmrc-sweep\"");
  EXPECT_EQ(error_of("[]"), "its \"format\" is not \"openmrc-sweep\"");
  EXPECT_EQ(error_of(with("\"version\": 1", "\"version\": 2")), "its \"version\" is not 1");
  EXPECT_EQ(error_of(with("\"axes\": [", "\"axes\": [5, ")),
            "\"title\", \"axes\" or \"runs\" is missing or invalid");
  EXPECT_EQ(error_of(with("\"4\"", "4")), "runs[0] is invalid");
  EXPECT_EQ(error_of(with("\"b\",\"8\"", "\"b\"")), "runs[1] is invalid");
  EXPECT_EQ(error_of(with("\"seed\":4", "\"seed\":-4")), "runs[1] is invalid");
}

// The name of a file comes from it.
TEST(SweepPlan, AHashIsNothingButDigits) {
  EXPECT_EQ(error_of(with("aaaaaaaa", "../../aa")), "runs[0] is invalid");
  EXPECT_EQ(error_of(with("aaaaaaaa", "a")), "runs[0] is invalid");
}

}  // namespace
}  // namespace openmrc::sim
