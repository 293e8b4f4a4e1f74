// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/metrics.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace openmrc::host {
namespace {

TEST(Metrics, SaysWhatANameMeansOnce) {
  const std::vector<Sample> samples{
      {.name = "openmrc_a_total", .help = "things", .labels = {{"plane", "0"}}, .value = 1ul},
      {.name = "openmrc_b", .help = "size", .type = MetricType::kGauge, .value = 0.5},
      {.name = "openmrc_a_total", .help = "things", .labels = {{"plane", "1"}}, .value = 2ul},
  };
  EXPECT_EQ(prometheus_text(samples),
            "# HELP openmrc_a_total things\n"
            "# TYPE openmrc_a_total counter\n"
            "openmrc_a_total{plane=\"0\"} 1\n"
            "openmrc_a_total{plane=\"1\"} 2\n"
            "# HELP openmrc_b size\n"
            "# TYPE openmrc_b gauge\n"
            "openmrc_b 0.5\n");
}

TEST(Metrics, EscapesWhatWouldEndALine) {
  const std::vector<Sample> samples{{.name = "openmrc_a",
                                     .help = "a \\ and\na \"b\"",
                                     .type = MetricType::kGauge,
                                     .labels = {{"host", "x\"\\\n"}, {"shard", "0"}},
                                     .value = std::nan("")}};
  EXPECT_EQ(prometheus_text(samples),
            "# HELP openmrc_a a \\\\ and\\na \"b\"\n"
            "# TYPE openmrc_a gauge\n"
            "openmrc_a{host=\"x\\\"\\\\\\n\",shard=\"0\"} NaN\n");
}

TEST(Metrics, KeepsEveryBitOfACounter) {
  const std::vector<Sample> samples{{.name = "openmrc_a_total", .value = 18446744073709551615ul}};
  EXPECT_NE(prometheus_text(samples).find("openmrc_a_total 18446744073709551615\n"),
            std::string::npos);
  EXPECT_NE(metrics_json(samples).find("18446744073709551615"), std::string::npos);
}

TEST(Metrics, AreAlsoJson) {
  const std::vector<Sample> samples{
      {.name = "openmrc_a_total", .labels = {{"host", "h0"}}, .value = 7ul}};
  EXPECT_EQ(metrics_json(samples),
            "[\n  {\n    \"name\": \"openmrc_a_total\",\n    \"type\": \"counter\",\n"
            "    \"labels\": {\n      \"host\": \"h0\"\n    },\n    \"value\": 7\n  }\n]\n");
}

TEST(Metrics, CountReasonsUnderOneName) {
  core::Counters counters;
  counters.add(core::Count::kDataSent, 10);
  counters.add(core::Count::kRetransmitsLoss, 3);
  counters.add(core::Count::kDropPKey, 4);
  counters.add_sent(Plane(1));
  counters.add_lost(Plane(1));
  HostValues values;
  values.add(counters);
  std::vector<Sample> samples;
  add_samples(values, 2, {{"host", "h0"}}, samples);
  const std::string text = prometheus_text(samples);
  for (const char* line : {"openmrc_data_sent_total{host=\"h0\"} 10\n",
                           "openmrc_retransmits_total{host=\"h0\",reason=\"loss\"} 3\n",
                           "openmrc_retransmits_total{host=\"h0\",reason=\"timeout\"} 0\n",
                           "openmrc_dropped_total{host=\"h0\",reason=\"pkey\"} 4\n",
                           "openmrc_plane_data_sent_total{host=\"h0\",plane=\"0\"} 0\n",
                           "openmrc_plane_data_sent_total{host=\"h0\",plane=\"1\"} 1\n",
                           "openmrc_plane_lost_packets_total{host=\"h0\",plane=\"1\"} 1\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST(Metrics, OfADataPathHaveReasonsToo) {
  datapath::Counters counters;
  counters.add(datapath::Count::kSendCalls, 5);
  counters.add(datapath::Count::kSendPortDown, 6);
  counters.add(wire::Reject::kIpEmpty);
  counters.add(datapath::PlaneCount::kSentBytes, Plane(1), 4096);
  HostValues values;
  values.add(counters);
  std::vector<Sample> samples;
  add_samples(values, 2, {}, samples);
  const std::string text = prometheus_text(samples);
  for (const char* line : {"openmrc_datapath_send_calls_total 5\n",
                           "openmrc_datapath_send_failed_total{reason=\"port_down\"} 6\n",
                           "openmrc_datapath_rejected_total{reason=\"ip_empty\"} 1\n",
                           "openmrc_plane_sent_bytes_total{plane=\"1\"} 4096\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

// What Prometheus asks of names, and that no two samples are the same series.
TEST(Metrics, AreWellFormed) {
  std::vector<Sample> samples;
  add_samples(HostValues{}, 4, {{"host", "h0"}}, samples);
  add_process_samples(HostValues{}, 4, {{"pid", "1"}}, samples);
  const std::regex line(R"(^[a-z][a-z0-9_]*\{([a-z]+="[^"]*",?)+\} \d+$)");
  std::istringstream text(prometheus_text(samples));
  std::set<std::string> seen;
  for (std::string each; std::getline(text, each);) {
    EXPECT_TRUE(seen.insert(each).second) << "twice: " << each;
    EXPECT_TRUE(each.starts_with("# ") || std::regex_match(each, line)) << each;
  }
  EXPECT_GT(seen.size(), core::kCounterTable.size());
}

class MetricsFile : public ::testing::Test {
 protected:
  MetricsFile()
      : folder_(std::filesystem::temp_directory_path() /
                fmt::format("openmrc-metrics-{}", getpid())) {
    std::filesystem::create_directory(folder_);
  }
  ~MetricsFile() override {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }

  std::filesystem::path folder_;
};

TEST_F(MetricsFile, IsReplacedAndLeavesNothingElse) {
  const auto file = folder_ / "openmrc.prom";
  EXPECT_TRUE(write_metrics_file(file, "a long first text\n"));
  EXPECT_TRUE(write_metrics_file(file, "new\n"));
  std::ifstream in(file);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(text, "new\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(MetricsFile, SaysWhereItCannotBeWritten) {
  const auto written = write_metrics_file(folder_ / "missing" / "x.prom", "text");
  ASSERT_FALSE(written);
  EXPECT_NE(to_string(written.error()).find("No such file or directory"), std::string::npos);
  std::filesystem::create_directory(folder_ / "x.prom");
  EXPECT_FALSE(write_metrics_file(folder_ / "x.prom", "text")) << "a directory is in the way";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

}  // namespace
}  // namespace openmrc::host
