// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/result_table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "openmrc/sim/report/sample_results.h"

namespace openmrc::sim {
namespace {

bool has_row(const RunResult& result, const TableRow& row) {
  const std::vector<TableRow> rows = table_rows(result);
  return std::find(rows.begin(), rows.end(), row) != rows.end();
}

TEST(ResultTable, IsAlignedAndComplete) {
  EXPECT_EQ(result_table(sample_result()),
            R"(sample: A sample
MRC, 8 hosts, 4 planes, 400 Gb/s per host, seed 7
fault from 500 us to 550 us: p2.t1-4 down

ended after                         1 ms  every host was done
flows                                  8  all finished
flow completion time, median      975 us
flow completion time, p99         995 us
flow completion time, max         995 us
flow rate, median               359 Gb/s
flow rate, slowest 1 %          354 Gb/s
flow rate, slowest              354 Gb/s
goodput                        2.82 Tb/s  88 % of line rate (3.2 Tb/s)
message bytes posted             336 MiB
message bytes completed          336 MiB  100 % of posted
data packets sent                 88,040
  retransmits                         40  0.0454 % of data packets
    declared lost                     40  0.0454 % of data packets
  marked (ECN)                     4,950
  trimmed                              0
  lost                                40  0.0454 % of data packets
control packets sent                 500
  lost                                 0
packets lost                          40  0.0452 % of packets
  link down                           40
EVs (paths)                          512
  suspected                           20  times
  disabled                            16  times, for loss
  restored                            16  times
  disabled, most                      16  at a time
  disabled, end                        0
packet accounting             consistent  every packet and byte is accounted for
)");
}

TEST(ResultTable, SaysWhatDidNotFinish) {
  RunResult result = sample_result();
  result.finished = false;
  result.flows[0].end = kNoTime;
  result.flows[1].failed = true;
  const auto rows = table_rows(result);
  EXPECT_EQ(rows[0], (TableRow{"ended after", "1 ms", "NOT FINISHED: hosts were not done"}));
  EXPECT_EQ(rows[1], (TableRow{"flows", "8", "6 finished, 1 not finished, 1 failed"}));
}

TEST(ResultTable, HasStepsIfThereAreAny) {
  RunResult result = sample_result();
  result.steps = {{{}, kMicrosecond * 100, 8}, {kMicrosecond * 100, kMicrosecond * 300, 8}};
  EXPECT_TRUE(has_row(result, {"step time, median", "100 us", ""}));
  EXPECT_TRUE(has_row(result, {"step time, worst", "200 us", "step 1"}));
}

TEST(ResultTable, DataAndControlPacketsAreLostApart) {
  RunResult result = sample_result();
  result.totals.control_packets_arrived -= 20;
  result.totals.packets_lost[0] += 20;
  EXPECT_TRUE(has_row(result, {"  lost", "40", "0.0454 % of data packets"}));
  EXPECT_TRUE(has_row(result, {"  lost", "20", "4 % of control packets"}));
  EXPECT_TRUE(has_row(result, {"packets lost", "60", "0.0678 % of packets"}));
  result.totals.control_packets_arrived -= 3;
  result.totals.packets_lost[static_cast<std::size_t>(Loss::kInFlight)] = 3;
  EXPECT_TRUE(has_row(result, {"  lost or in flight", "23", "4.6 % of control packets"}));
  EXPECT_TRUE(has_row(
      result, {"packet accounting", "consistent", "every packet and byte is accounted for"}));
}

TEST(ResultTable, ReportsLossesByReason) {
  RunResult result = sample_result();
  result.totals.packets_lost = {1, 2, 0, 0, 7};
  EXPECT_TRUE(has_row(result, {"  link error", "2", ""}));
  EXPECT_TRUE(has_row(result, {"in flight at the end", "7", ""}));
  EXPECT_TRUE(has_row(result, {"packet accounting", "INCONSISTENT",
                               "88540 packets were sent, 88510 arrived or were lost"}));
}

TEST(ResultTable, WithoutEvsSaysNothingOfThem) {
  RunResult result = sample_result();
  result.evs = 0;
  EXPECT_PRED_FORMAT2(testing::IsNotSubstring, "EVs", result_table(result));
}

TEST(ResultTable, ListsTheFirstFaults) {
  RunResult result = sample_result();
  result.faults.assign(12, {kMicrosecond, kNoTime, "p0.t0-1 down"});
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "fault from 1 us on: p0.t0-1 down\n",
                      result_table(result));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "\nand 2 more faults\n", result_table(result));
}

TEST(ResultTable, SaysWhichFaultsWereNeverReached) {
  RunResult result = sample_result();
  result.faults.push_back({kMillisecond * 5, kNoTime, "p0.t0-1 down"});
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "fault from 500 us to 550 us: p2.t1-4 down\n"
                      "fault from 5 ms on: p0.t0-1 down (never reached)\n",
                      result_table(result));
}

TEST(ResultTable, HasEachJob) {
  RunResult result = sample_result();
  result.jobs = sample_jobs();
  const std::string table = result_table(result);
  for (const char* part : {"6 hosts, from 10 us\n", "2 steps\n", "  step time, worst", "recorded\n",
                           "11 of 12 done\n", "to the end  8 hosts, from 0 s\n"}) {
    EXPECT_PRED_FORMAT2(testing::IsSubstring, part, table);
  }
}

TEST(ResultTable, OfNothing) {
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "NOT FINISHED", result_table(RunResult{}));
}

}  // namespace
}  // namespace openmrc::sim
