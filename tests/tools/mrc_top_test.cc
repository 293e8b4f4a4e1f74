// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tools/mrc/top/exposition.h"
#include "tools/mrc/top/source.h"
#include "tools/mrc/top/view.h"

namespace openmrc::tools::top {
namespace {

TEST(Exposition, HasNamesLabelsAndValues) {
  const Exposition text(
      "# HELP a things\n"
      "# TYPE a counter\n"
      "a 1\n"
      "b{plane=\"0\",reason=\"x\\\"\\\\\\ny\"} 2.5e+06\n"
      "b{plane=\"1\",} 3 1700000000\n"
      "c NaN");
  ASSERT_EQ(text.series().size(), 4U);
  EXPECT_EQ(text.value("a"), 1);
  EXPECT_EQ(text.series()[1].label("reason"), "x\"\\\ny");
  EXPECT_EQ(text.value("b", "plane", "0"), 2.5e6);
  EXPECT_EQ(text.value("b", "plane", "1"), 3);
  EXPECT_EQ(text.value("b", "plane", "2"), 0);
  EXPECT_EQ(text.value("d"), 0);
}

TEST(Exposition, PassesOverWhatItDoesNotUnderstand) {
  for (const char* text :
       {"", "\n\n", "{} 1", "a", "a{", "a{b", "a{b=", "a{b=\"", "a{b=\"c", "a{b=\"\\", "a{b=\"c\"",
        "a{b=\"c\"}", "a{b=\"c\"}x", "a{b=\"c\" d} 1", "a x", "a{=\"c\"} 1", "<html>"}) {
    EXPECT_TRUE(Exposition(text).series().empty()) << text;
  }
}

constexpr const char* kBefore =
    "openmrc_host_info{host=\"h0\"} 1\n"
    "openmrc_plane_sent_bytes_total{plane=\"0\"} 1000\n"
    "openmrc_plane_data_sent_total{plane=\"0\"} 100\n"
    "openmrc_plane_lost_packets_total{plane=\"0\"} 5\n"
    "openmrc_retransmits_total{reason=\"loss\"} 5\n"
    "openmrc_process_sent_bytes_total{pid=\"7\",program=\"job\",plane=\"0\"} 1000\n";
constexpr const char* kNow =
    "openmrc_build_info{version=\"1.2\"} 1\n"
    "openmrc_host_info{host=\"h0\"} 1\n"
    "openmrc_processes 3\n"
    "openmrc_peers 4\n"
    "openmrc_port_enabled{plane=\"10\",interface=\"p10\"} 0\n"
    "openmrc_port_enabled{plane=\"0\",interface=\"p0\"} 1\n"
    "openmrc_port_enabled{plane=\"2\",interface=\"p2\"} 1\n"
    "openmrc_port_down_processes{plane=\"2\"} 1\n"
    "openmrc_plane_sent_bytes_total{plane=\"0\"} 3000\n"
    "openmrc_plane_data_sent_total{plane=\"0\"} 300\n"
    "openmrc_plane_lost_packets_total{plane=\"0\"} 7\n"
    "openmrc_paths{plane=\"0\",state=\"good\"} 60\n"
    "openmrc_paths{plane=\"0\",state=\"assumed_bad\"} 4\n"
    "openmrc_retransmits_total{reason=\"loss\"} 9\n"
    "openmrc_retransmits_total{reason=\"trim\"} 0\n"
    "openmrc_process_sent_bytes_total{pid=\"7\",program=\"job\",plane=\"0\"} 1500\n"
    "openmrc_process_sent_bytes_total{pid=\"7\",program=\"job\",plane=\"1\"} 500\n"
    "openmrc_process_sent_bytes_total{pid=\"8\",program=\"new\",plane=\"0\"} 4000\n"
    "openmrc_process_peers{pid=\"8\",program=\"new\"} 2\n";

View seen() { return compare(Exposition(kBefore), Exposition(kNow), 2); }

TEST(TopView, HasRatesByPlaneInOrder) {
  const View view = seen();
  EXPECT_EQ(view.host, "h0");
  EXPECT_EQ(view.processes, 3);
  ASSERT_EQ(view.planes.size(), 3U);
  EXPECT_EQ(view.planes[0].plane, "0");
  EXPECT_EQ(view.planes[0].sent_bits, 8000);
  EXPECT_EQ(view.planes[0].loss(), 0.01);
  EXPECT_EQ(view.planes[0].paths[0], 60);
  EXPECT_EQ(view.planes[1].plane, "2");
  EXPECT_EQ(view.planes[2].plane, "10");
  ASSERT_EQ(view.retransmits.size(), 2U);
  EXPECT_EQ(view.retransmits[0].second, 2);
}

TEST(TopView, HasTheBusiestProcessFirst) {
  const View view = seen();
  ASSERT_EQ(view.shown.size(), 2U);
  EXPECT_EQ(view.shown[0].program, "new");
  EXPECT_EQ(view.shown[0].peers, 2);
  EXPECT_EQ(view.shown[0].sent_bits, 16000);
  EXPECT_EQ(view.shown[1].sent_bits, 4000) << "of both planes";
}

TEST(TopView, CountsFromZeroAfterARestart) {
  const View view = compare(Exposition("openmrc_plane_sent_bytes_total{plane=\"0\"} 1000\n"),
                            Exposition("openmrc_plane_sent_bytes_total{plane=\"0\"} 10\n"), 1);
  EXPECT_EQ(view.planes[0].sent_bits, 80);
}

TEST(TopView, IsTextOf80ColumnsAndAsManyRowsAsThereAre) {
  const std::string text = text_of(seen(), {});
  std::size_t begin = 0;
  std::size_t rows = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    EXPECT_LE(end - begin, 80U) << text.substr(begin, end - begin);
    ++rows;
  }
  EXPECT_NE(text.find("p10      disabled"), std::string::npos) << text;
  EXPECT_NE(text.find("p2       down"), std::string::npos) << text;
  EXPECT_NE(text.find("retransmits/s  loss 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("and 1 more\n"), std::string::npos) << text;
  EXPECT_GT(rows, 5U);
  EXPECT_EQ(std::ranges::count(text_of(seen(), {.rows = 5}), '\n'), 5);
}

std::string bad_link(const char* metric, const char* link, const char* value) {
  return std::string("openmrc_bad_link_") + metric + "{plane=\"0\",link=\"" + link +
         "\",direction=\"up\"} " + value + "\n";
}

TEST(TopView, HasALineForEachLinkThatTheMapperFindsBadTheWorstFirst) {
  const std::string now = std::string(kNow) + "openmrc_bad_links{plane=\"0\"} 2\n" +
                          "openmrc_bad_links{plane=\"1\"} 1\n" +
                          bad_link("loss_ratio", "p0.t0-0/up1", "0.01") +
                          bad_link("loss_ratio", "p0.t0-0/up2", "0.375") +
                          bad_link("probes_sent_total", "p0.t0-0/up2", "142") +
                          bad_link("probes_lost_total", "p0.t0-0/up2", "54") +
                          bad_link("seconds", "p0.t0-0/up2", "14.42");
  const View view = compare(Exposition(kBefore), Exposition(now), 2);
  EXPECT_EQ(view.planes.size(), 3U) << "a link is not a plane";
  const std::string text = text_of(view, {});
  const std::size_t worst =
      text.find("p0.t0-0/up2        up            38 %          54 of 142   14.4 s\n");
  ASSERT_NE(worst, std::string::npos) << text;
  EXPECT_GT(text.find("p0.t0-0/up1"), worst);
  EXPECT_NE(text.find("and 1 more\n"), std::string::npos);
  const auto json = nlohmann::json::parse(json_of(view));
  EXPECT_EQ(json["bad_links"], 3);
  EXPECT_EQ(json["worst_links"][0]["link"], "p0.t0-0/up2");
  EXPECT_EQ(json["worst_links"][0]["probes_lost"], 54);
}

TEST(TopView, SaysThatNoLinkIsBadOnlyIfSomebodyLooks) {
  EXPECT_EQ(text_of(seen(), {}).find("bad link"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(json_of(seen()))["bad_links"].is_null());
  const std::string now = std::string(kNow) + "openmrc_bad_links{plane=\"0\"} 0\n";
  const View view = compare(Exposition(kBefore), Exposition(now), 2);
  EXPECT_NE(text_of(view, {}).find("bad links      none\n"), std::string::npos);
}

TEST(TopView, IsJson) {
  const auto json = nlohmann::json::parse(json_of(seen()));
  EXPECT_EQ(json["host"], "h0");
  EXPECT_EQ(json["planes"][0]["loss_ratio"], 0.01);
  EXPECT_EQ(json["planes"][1]["port"], "down");
  EXPECT_EQ(json["planes"][0]["paths"]["assumed_bad"], 4);
  EXPECT_EQ(json["busiest"][0]["pid"], "8");
}

}  // namespace
}  // namespace openmrc::tools::top
