// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/experiment/experiment_page.h"

#include <gtest/gtest.h>

#include <string>

#include "openmrc/sim/experiment/summary_text.h"
#include "openmrc/sim/experiment/test_experiment.h"
#include "openmrc/sim/report/markup_checker.h"

namespace openmrc::sim {
namespace {

std::string page_of(const Experiment& experiment) {
  return experiment_page(experiment, main_measures(groups_of(experiment)));
}

TEST(ExperimentPage, IsOneWellFormedPage) {
  const std::string page = page_of(sample_experiment());
  EXPECT_EQ(MarkupChecker::check(page), "");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
  EXPECT_EQ(MarkupChecker::check(page_of({})), "");
}

TEST(ExperimentPage, HasChartsTablesAndWhatIsMissing) {
  const std::string page = page_of(sample_experiment());
  for (const char* part :
       {"<h1>Planes &amp; mixes</h1>", "5 runs \u00b7 2 combinations of planes, mix",
        "<h2>ended after</h2>", "<h2>goodput</h2>", "<h2>All other figures</h2>", "2 ms [1, 3]",
        "2 (1 unfinished)", "planes=8, mix=c, seed 3", "95 % probability"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part;
  }
}

TEST(ExperimentPage, SaysWhatTheFabricsAreMadeOf) {
  Experiment experiment = sample_experiment();
  EXPECT_EQ(page_of(experiment).find("made of"), std::string::npos);
  for (ExperimentRun& run : experiment.runs)
    run.shape = fabric::Shape{.planes = 2, .racks = 3, .uplinks = 1};
  const std::string page = page_of(experiment);
  EXPECT_EQ(MarkupChecker::check(page), "");
  EXPECT_NE(page.find("<h2>What the fabrics are made of</h2>"), std::string::npos);
  EXPECT_NE(page.find("all runs"), std::string::npos);
}

TEST(ExperimentPage, ANameStaysText) {
  Experiment experiment = sample_experiment();
  for (ExperimentRun& run : experiment.runs) run.values[1] = "<script>alert(1)</script>";
  const std::string page = page_of(experiment);
  EXPECT_EQ(MarkupChecker::check(page), "");
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
}

}  // namespace
}  // namespace openmrc::sim
