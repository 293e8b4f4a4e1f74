// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/result/result_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "openmrc/sim/report/sample_results.h"

namespace openmrc::sim {
namespace {

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), with);
}

std::string reading_error(const std::string& text) {
  const auto result = read_result_json(text);
  return result ? "" : result.error();
}

// Every field differs from its default and from its neighbours.
RunResult filled_result() {
  RunResult result = sample_result();
  result.finished = false;
  result.title = "quotes \" and \\ and \n, \u00fc, <b>";
  result.seed = std::numeric_limits<std::uint64_t>::max();
  result.totals = {
      1,  2,  3,  4,  5,  6,  7,  8, 9, 10, 29, {11, 12, 13, 14, 15}, {16, 17, 18, 19, 20},
      21, 22, 23, 24, 25, 26, 27, 28};
  result.steps = {{Picoseconds(3), Picoseconds(9'007'199'254'740'993), 8},
                  {kMicrosecond, kNoTime, 1}};
  result.flows[3].end = kNoTime;
  result.flows[4].failed = true;
  result.flows[5].bytes = std::numeric_limits<std::uint64_t>::max();
  result.buckets[9] = {
      {1, 2, 3, std::numeric_limits<std::uint64_t>::max()}, {-5, 2, 2, 1}, {4, 5, 6}, 7, 8, 9, 10};
  result.faults.push_back({kMicrosecond, kNoTime, "host-3.p1 down"});
  return result;
}

TEST(ResultJson, ReadsBackWhatWasWritten) {
  const RunResult result = filled_result();
  const auto back = read_result_json(write_result_json(result));
  ASSERT_TRUE(back) << back.error();
  EXPECT_EQ(*back, result);
}

TEST(ResultJson, HasJobsIfThereAreAny) {
  RunResult result = sample_result();
  EXPECT_EQ(write_result_json(result).find("\"jobs\""), std::string::npos);
  result.jobs = sample_jobs();
  const std::string text = write_result_json(result);
  const auto back = read_result_json(text);
  ASSERT_TRUE(back) << back.error();
  EXPECT_EQ(*back, result);
  EXPECT_EQ(reading_error(replaced(text, "\"begin_ps\":10000000", "\"begin_ps\":999000000")),
            "jobs[0] ends before it begins");
  EXPECT_EQ(reading_error(replaced(text, "[[10000000,110000000,6]", "[[1,2]")),
            "jobs[0]: \"steps\"[0]: \"hosts\" has an invalid value");
  EXPECT_EQ(reading_error(replaced(text, "\"name\":\"storage\",", "")), "jobs[1] has no \"name\"");
}

TEST(ResultJson, ReadsBackTheEmptyResult) {
  const auto back = read_result_json(write_result_json(RunResult{}));
  ASSERT_TRUE(back) << back.error();
  EXPECT_EQ(*back, RunResult{});
}

TEST(ResultJson, SameResultGivesSameBytes) {
  const std::string text = write_result_json(filled_result());
  const auto back = read_result_json(text);
  ASSERT_TRUE(back) << back.error();
  EXPECT_EQ(write_result_json(*back), text);
}

TEST(ResultJson, IsWhatOtherProgramsExpect) {
  const auto json = nlohmann::json::parse(write_result_json(filled_result()));
  EXPECT_EQ(json["format"], "openmrc-run");
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["end_ps"], 1'000'000'000);
  EXPECT_EQ(json["totals"]["packets_lost"]["data_full"], 13);
  EXPECT_EQ(json["flows_columns"][5], "end_ps");
  EXPECT_TRUE(json["flows"][3][5].is_null());
  EXPECT_EQ(json["buckets"][9]["ev_changes"]["good"], -5);
  EXPECT_EQ(json["buckets"][9]["queue_max_bytes"]["t1_down"], 5);
  EXPECT_TRUE(json["faults"][1]["to_ps"].is_null());
}

// A fabric of two tiers has none of these queues.
TEST(ResultJson, QueuesOfAThirdTierAreThereIfTheyWereUsed) {
  RunResult result = sample_result();
  EXPECT_EQ(write_result_json(result).find("t2_down"), std::string::npos);
  result.buckets[3].queue_max_bytes[static_cast<std::size_t>(PortKind::kT2Down)] = 7;
  const std::string text = write_result_json(result);
  EXPECT_EQ(nlohmann::json::parse(text)["buckets"][3]["queue_max_bytes"]["t2_down"], 7);
  const auto back = read_result_json(text);
  ASSERT_TRUE(back) << back.error();
  EXPECT_EQ(back->buckets, result.buckets);
}

TEST(ResultJson, KeysStandInTheirOrderAndRecordsOnTheirLines) {
  const std::string text = write_result_json(sample_result());
  EXPECT_TRUE(text.starts_with("{\n\"format\": \"openmrc-run\",\n\"version\": 1,\n\"scenario\":"));
  EXPECT_LT(text.find("\"buckets\""), text.find("\"flows\""));
  EXPECT_NE(text.find("\n[0,1,1,44000000,0,960000000,false],\n"), std::string::npos);
}

TEST(ResultJson, TitleThatIsNotUtf8IsStillWritten) {
  RunResult result;
  result.title = "a\xff";
  const auto back = read_result_json(write_result_json(result));
  ASSERT_TRUE(back) << back.error();
  EXPECT_EQ(back->title, "a\xEF\xBF\xBD");
}

TEST(ResultJson, SaysWhatIsWrong) {
  const std::string good = write_result_json(sample_result());
  EXPECT_EQ(reading_error("{"), "this is not JSON");
  EXPECT_EQ(reading_error("[]"), "this is not a result: its \"format\" is not \"openmrc-run\"");
  EXPECT_EQ(reading_error(replaced(good, "\"version\": 1", "\"version\": 2")),
            "the result has version 2, and this program reads version 1");
  EXPECT_EQ(reading_error(replaced(good, "\"hosts\": 8", "\"guests\": 8")),
            "the result has no \"hosts\"");
  EXPECT_EQ(reading_error(replaced(good, "\"hosts\": 8", "\"hosts\": 4294967296")),
            "the result: \"hosts\" has an invalid value");
  EXPECT_EQ(reading_error(replaced(good, "\"seed\": 7", "\"seed\": -7")),
            "the result: \"seed\" has an invalid value");
  EXPECT_EQ(reading_error(replaced(good, "\"seed\": 7", "\"seed\": 7.5")),
            "the result: \"seed\" has an invalid value");
  EXPECT_EQ(reading_error(replaced(good, "\"packets_marked\":4950", "\"packets_marked\":true")),
            "totals: \"packets_marked\" has an invalid value");
  EXPECT_EQ(reading_error(replaced(good, "\"link_error\":", "\"link_joy\":")),
            "totals: \"packets_lost\" has an invalid value");
  EXPECT_EQ(reading_error(replaced(good, "[1,2,1,44000000,", "[1,2,1,")),
            "flows[1]: \"end_ps\" has an invalid value");
  EXPECT_EQ(reading_error(replaced(good, "\"flows\": [", "\"flows\": [[],")),
            "flows[0]: \"from\" has an invalid value");
  EXPECT_EQ(reading_error(replaced(good, "\"flows\": [", "\"flown\": [")), "no list \"flows\"");
  EXPECT_EQ(reading_error(replaced(good, "[\"from\",\"to\"", "[\"to\",\"from\"")),
            "\"flows_columns\" is not [\"from\",\"to\",\"tag\",\"bytes\",\"start_ps\",\"end_ps\","
            "\"failed\"]");
}

TEST(ResultJson, RefusesWhatNoRunGives) {
  const auto error_of = [](auto&& change) {
    RunResult result = filled_result();
    change(result);
    return reading_error(write_result_json(result));
  };
  EXPECT_EQ(error_of([](RunResult& r) { r.bucket_width = {}; }),
            "\"bucket_width_ps\" does not suit the buckets");
  EXPECT_EQ(error_of([](RunResult& r) { r.bucket_width = kNoTime / 50; }),
            "\"bucket_width_ps\" does not suit the buckets");
  EXPECT_EQ(error_of([](RunResult& r) { r.evs = std::uint64_t{1} << 41; }), "\"evs\" is too large");
  EXPECT_EQ(error_of([](RunResult& r) { r.buckets[7].payload_bytes.pop_back(); }),
            "buckets[7] does not suit \"planes\" or \"evs\"");
  EXPECT_EQ(error_of([](RunResult& r) { r.buckets[8].ev_changes[0] = -513; }),
            "buckets[8] does not suit \"planes\" or \"evs\"");
  EXPECT_EQ(error_of([](RunResult& r) { r.flows[2].start = kMillisecond * 2; }),
            "flows[2] ends before it starts");
  EXPECT_EQ(error_of([](RunResult& r) { r.steps[0].end = Picoseconds(2); }),
            "steps[0] ends before it begins");
  EXPECT_EQ(error_of([](RunResult& r) { r.end = Picoseconds(-1); }),
            "the result: \"end_ps\" has an invalid value");
}

TEST(ResultJson, DeepTextIsRefused) {
  const auto result = read_result_json(std::string(1'000'000, '['));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), "values are nested more than 32 deep");
}

}  // namespace
}  // namespace openmrc::sim
