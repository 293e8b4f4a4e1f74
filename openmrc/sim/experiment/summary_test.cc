// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/experiment/summary.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "openmrc/sim/experiment/summary_text.h"
#include "openmrc/sim/experiment/test_experiment.h"

namespace openmrc::sim {
namespace {

TEST(Summary, RunsThatDifferInTheSeedAloneAreAGroup) {
  const auto groups = groups_of(sample_experiment());
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].values, (std::vector<std::string>{"4", "a,b"}));
  EXPECT_EQ(groups[0].runs, 3U);
  EXPECT_EQ(groups[0].unfinished, 0U);
  EXPECT_EQ(groups[1].unfinished, 1U);
  const std::size_t end = *find_measure("end_ps");
  EXPECT_EQ(groups[0].estimates[end]->median, 2e9);
  EXPECT_EQ(groups[0].estimates[end]->low, 1e9);
  EXPECT_EQ(groups[0].estimates[end]->high, 3e9);
  EXPECT_EQ(groups[1].estimates[end]->median, 8e9);
}

TEST(Summary, ATableHasALineForEachGroup) {
  EXPECT_EQ(groups_text(sample_experiment(), {*find_measure("end_ps")}),
            "planes  mix  runs  ended after\n"
            "4       a,b     3  2 ms [1, 3]\n"
            "8       c       2  8 ms [7, 9]\n");
}

TEST(Summary, AnIntervalHasItsUnitOnceIfItIsTheSame) {
  const auto text = [](double median, double low, double high) {
    return estimate_text(Estimate{.median = median, .low = low, .high = high},
                         text::Unit::kPicoseconds);
  };
  EXPECT_EQ(text(2e9, 1.5e9, 2.5e9), "2 ms [1.5, 2.5]");
  EXPECT_EQ(text(1e9, 9e8, 2e9), "1 ms [900 us, 2]");
  EXPECT_EQ(text(2e9, 2e9, 2e9), "2 ms");
  EXPECT_EQ(estimate_text(std::nullopt, text::Unit::kCount), "-");
}

TEST(Summary, OneGroupHasALineForEachFigure) {
  const std::string text = group_text(groups_of(sample_experiment())[0]);
  EXPECT_NE(text.find("ended after"), std::string::npos) << text;
  EXPECT_NE(text.find("2 ms"), std::string::npos) << text;
  EXPECT_EQ(text.find("step time"), std::string::npos) << text;
}

TEST(Summary, SaysWhichIntervalItIs) {
  EXPECT_EQ(
      interval_note(groups_of(sample_experiment())),
      "Medians of 2 to 3 seeds, each with the interval that holds the median of all seeds "
      "with at least 95 % probability (order statistics; no distribution is assumed). 2 seeds "
      "are not enough for that: there it is the range of all values, which holds it with 50 "
      "%.");
}

TEST(Summary, NamesWhatIsMissingOrDidNotFinish) {
  Experiment experiment = sample_experiment();
  EXPECT_EQ(experiment_warning(experiment),
            "1 of 5 runs did not finish; their completion times and rates are of the flows that "
            "did. 1 run is missing: planes=8, mix=c, seed 3.");
  for (ExperimentRun& run : experiment.runs) run.finished = true;
  experiment.missing.assign(12, "x");
  EXPECT_EQ(experiment_warning(experiment),
            "12 runs are missing: x; x; x; x; x; x; x; x; x; x; and 2 more.");
  experiment.missing.clear();
  EXPECT_EQ(experiment_warning(experiment), "");
}

TEST(Summary, CsvIsOneThatSpreadsheetsRead) {
  const std::string csv = experiment_csv(sample_experiment());
  EXPECT_TRUE(csv.starts_with("planes,mix,runs,unfinished,end_ps_median,end_ps_low,end_ps_high,"))
      << csv;
  EXPECT_NE(csv.find("\r\n4,\"a,b\",3,0,2000000000,1000000000,3000000000,"), std::string::npos)
      << csv;
}

TEST(Summary, JsonHasGroupsAndRuns) {
  const auto json = nlohmann::json::parse(experiment_json(sample_experiment()));
  EXPECT_EQ(json["format"], "openmrc-experiment");
  EXPECT_EQ(json["groups"][0]["axes"]["planes"], "4");
  EXPECT_EQ(json["groups"][0]["figures"]["end_ps"]["median"], 2'000'000'000);
  EXPECT_EQ(json["groups"][0]["figures"]["end_ps"]["n"], 3);
  EXPECT_EQ(json["runs"].size(), 5U);
  EXPECT_EQ(json["runs"][4]["seed"], 2);
  EXPECT_EQ(json["missing"][0], "planes=8, mix=c, seed 3");
}

}  // namespace
}  // namespace openmrc::sim
