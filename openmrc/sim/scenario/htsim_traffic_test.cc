// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/htsim_traffic.h"

#include <gtest/gtest.h>

#include <string>

#include "openmrc/text/file_limits.h"

namespace openmrc::sim {
namespace {

std::string error_of(std::string_view text) {
  const auto traffic = parse_htsim_traffic(text);
  return traffic ? "" : to_string(traffic.error());
}

TEST(HtsimTraffic, ReadsFlowsAndTriggers) {
  const auto traffic = parse_htsim_traffic(
      "# a ring of three\n"
      "Nodes 3\n"
      "Connections 3\r\n"
      "Triggers 2\n"
      "\n"
      "0->1 id 1 start 0 size 2000000 send_done_trigger 1 msg\n"
      "1->2 id 2 trigger 1 size 1500000 recv_done_trigger 2 prio 3\n"
      "1->0 id 3 msg trigger 2 size 99 msg 1\n"
      "trigger id 1 oneshot\n"
      "trigger id 2 oneshot");
  ASSERT_TRUE(traffic.has_value()) << to_string(traffic.error());
  EXPECT_EQ(traffic->nodes, 3U);
  const auto& flows = traffic->list.flows;
  ASSERT_EQ(flows.size(), 3U);
  EXPECT_EQ(flows[0].from, 0U);
  EXPECT_EQ(flows[0].to, 1U);
  EXPECT_EQ(flows[0].bytes, 2'000'000U);
  EXPECT_EQ(flows[0].after, -1);
  EXPECT_EQ(flows[1].after, 0);  // it arrived at 1
  EXPECT_EQ(flows[2].after, 1);  // 1 sent it
  EXPECT_EQ(flows[2].bytes, 99U);
}

TEST(HtsimTraffic, StartsAreInPicoseconds) {
  const auto traffic = parse_htsim_traffic(
      "Nodes 3\nConnections 3\n"
      "0->1 start 9000001 size 1\n0->1 start 2e6 size 1\n0->1 start 12.7 size 1\n");
  ASSERT_TRUE(traffic.has_value());
  EXPECT_EQ(traffic->list.flows[0].start, Picoseconds(9'000'001));
  EXPECT_EQ(traffic->list.flows[1].start, Picoseconds(2'000'000));
  EXPECT_EQ(traffic->list.flows[2].start, Picoseconds(12));
}

TEST(HtsimTraffic, SaysWhatIsWrongWithALine) {
  EXPECT_EQ(error_of("Nodes three\n"), "line 1: 'Nodes' needs a number");
  EXPECT_EQ(error_of("Nodes 3\nHosts 3\n"), "line 2: 'Hosts' begins no line of a traffic file");
  EXPECT_EQ(error_of("0->x start 0 size 1\n"), "line 1: '0->x' must be two hosts, such as 0->5");
  EXPECT_EQ(error_of("0->1 start 0 size\n"), "line 1: 'size' needs a value");
  EXPECT_EQ(error_of("0->1 start -1 size 1\n"), "line 1: 'start' cannot be -1");
  EXPECT_EQ(error_of("0->1 start 0 bytes 1\n"), "line 1: 'bytes' is not known of a flow");
  EXPECT_EQ(error_of("0->1 start 0\n"), "line 1: a flow needs a size above 0");
  EXPECT_EQ(error_of("0->1 size 1\n"), "line 1: a flow needs either a start or a trigger");
  EXPECT_EQ(error_of("0->1 start 0 trigger 1 size 1\n"),
            "line 1: a flow needs either a start or a trigger");
  EXPECT_EQ(error_of("failure switch_type TOR switch_id 1 link_id 1\n"),
            "line 1: failures belong in the scenario, as [[fault]]");
}

TEST(HtsimTraffic, SaysWhatIsWrongWithATrigger) {
  EXPECT_EQ(error_of("trigger id 1 barrier count 2\n"),
            "line 1: only oneshot triggers can be used, not barrier");
  EXPECT_EQ(error_of("trigger oneshot\n"), "line 1: a trigger needs an id above 0");
  EXPECT_EQ(error_of("trigger id one oneshot\n"), "line 1: a trigger's id must be a number");
  EXPECT_EQ(error_of("trigger id 1\n"), "line 1: a trigger needs a kind: oneshot");
  EXPECT_EQ(error_of("trigger id 1 twice\n"), "line 1: 'twice' is not known of a trigger");
  EXPECT_EQ(error_of("trigger id 1 oneshot\ntrigger id 1 oneshot\n"),
            "line 2: trigger 1 stands in line 1 already");
  EXPECT_EQ(error_of("0->1 start 0 size 1 send_done_trigger 1\n"
                     "0->1 start 0 size 1 send_done_trigger 1\n"),
            "line 2: trigger 1 is fired in line 1 already");
  EXPECT_EQ(error_of("0->1 start 0 size 1 send_done_trigger 1 recv_done_trigger 1\n"),
            "line 1: trigger 1 is fired in line 1 already");
}

TEST(HtsimTraffic, SaysWhatDoesNotFitTogether) {
  EXPECT_EQ(error_of("Connections 0\n"), "Nodes is missing");
  EXPECT_EQ(error_of("Nodes 2\nConnections 2\n0->1 start 0 size 1\n"),
            "line 2: the file says 2 connections and has 1");
  EXPECT_EQ(error_of("Nodes 2\nConnections 0\nTriggers 1\n"),
            "line 3: the file says 1 triggers and has 0");
  EXPECT_EQ(error_of("Nodes 2\nConnections 1\n0->2 start 0 size 1\n"),
            "line 3: 0->2: the last of 2 nodes is 1");
  EXPECT_EQ(error_of("Nodes 2\nConnections 1\n0->1 trigger 4 size 1\n"),
            "line 3: there is no trigger 4");
  EXPECT_EQ(error_of("Nodes 2\nConnections 1\nTriggers 1\n0->1 trigger 4 size 1\n"
                     "trigger id 4 oneshot\n"),
            "line 4: no flow fires trigger 4");
}

TEST(HtsimTraffic, HasLimits) {
  const std::string head = "Nodes 2\nConnections 1\n";
  EXPECT_EQ(error_of(head + "0->1 start 0 size 1099511627776\n"), "");
  EXPECT_EQ(error_of(head + "0->1 start 0 size 1099511627777\n"),
            "line 3: a flow has at most 1 TiB");
  EXPECT_EQ(error_of(head + "0->1 start 0 size 18446744073709551615\n"),
            "line 3: a flow has at most 1 TiB");
  EXPECT_EQ(error_of(head + "0->1 start 0 size 18446744073709551616\n"),
            "line 3: 'size' cannot be 18446744073709551616");
  EXPECT_EQ(error_of(head + "0->1" + std::string(5000, ' ') + "start 0 size 1\n"),
            "line 3: is too long for a traffic file");
  EXPECT_EQ(error_of(std::string(text::kTrafficBytesMax + 1, '\n')),
            "is larger than 256MiB, the most that is read");
}

TEST(HtsimTraffic, TriggersMustBeLocal) {
  EXPECT_EQ(error_of("Nodes 4\nConnections 2\nTriggers 1\n"
                     "0->1 start 0 size 1 recv_done_trigger 1\n"
                     "2->3 trigger 1 size 1\n"
                     "trigger id 1 oneshot\n"),
            "line 5: host 2 cannot know of trigger 1, which the flow 0->1 of line 4 fires: it "
            "neither sends nor receives it");
}

}  // namespace
}  // namespace openmrc::sim
