// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/sim/result/result.h"

// Results that no run gave, for tests of what is made of results.
namespace openmrc::sim {

inline constexpr Picoseconds kMicrosecond{1'000'000};
inline constexpr Picoseconds kMillisecond{1'000'000'000};

// 8 hosts with 4 planes send 44 MB each: 100 slices of 10 us. All planes carry 90 % of their rate;
// from 500 us to 550 us plane 2 carries nothing, and 16 of its EVs are disabled.
inline RunResult sample_result() {
  RunResult result;
  result.scenario = "sample";
  result.title = "A sample";
  result.transport = "mrc";
  result.seed = 7;
  result.hosts = 8;
  result.planes = 4;
  result.host_bits_per_second = 400'000'000'000;
  result.end = kMillisecond;
  result.finished = true;
  result.evs = 8 * 64;
  result.bucket_width = kMicrosecond * 10;
  const std::uint64_t full = 8 * 112'500;  // 90 % of 8 ports with 100 Gb/s each, for 10 us
  for (std::uint64_t at = 0; at < 100; ++at) {
    Bucket bucket;
    bucket.payload_bytes.assign(4, full);
    if (at >= 50 && at < 55) bucket.payload_bytes[2] = 0;
    bucket.queue_max_bytes = {50'000 + at, 20'000, 80'000};
    bucket.marked = at;
    result.buckets.push_back(bucket);
  }
  result.buckets[50].ev_changes = {-16, 0, 0, 16, 0};
  result.buckets[50].lost = 40;
  result.buckets[51].retransmissions = 40;
  result.buckets[60].ev_changes = {16, 0, 0, -16, 0};
  for (std::uint32_t host = 0; host < 8; ++host) {
    result.flows.push_back({.from = host,
                            .to = (host + 1) % 8,
                            .tag = 1,
                            .bytes = 44'000'000,
                            .start = {},
                            .end = kMicrosecond * (960 + 5 * host)});
  }
  result.faults.push_back({kMicrosecond * 500, kMicrosecond * 550, "p2.t1-4 down"});
  Totals& totals = result.totals;
  totals.data_packets_sent = 88'040;
  totals.data_packets_arrived = 88'000;
  totals.control_packets_sent = 500;
  totals.control_packets_arrived = 500;
  totals.packets_lost[0] = 40;
  totals.payload_bytes_sent = 88'040 * 4'000;
  totals.payload_bytes_arrived = 88'000 * 4'000;
  totals.payload_bytes_lost[0] = 40 * 4'000;
  totals.packets_marked = 4'950;
  totals.retransmissions = 40;
  totals.message_bytes_posted = 8 * 44'000'000;
  totals.message_bytes_completed = 8 * 44'000'000;
  totals.retransmits[static_cast<std::size_t>(RetransmitReason::kLoss)] = 40;
  totals.evs_suspected = 20;
  totals.evs_lost = 16;
  totals.evs_readmitted = 16;
  return result;
}

// A job of two steps, 100 us and 300 us, beside background traffic.
inline std::vector<JobRecord> sample_jobs() {
  JobRecord training{.name = "dense", .hosts = 6, .begin = kMicrosecond * 10};
  training.end = kMicrosecond * 410;
  training.messages = 12;
  training.messages_done = 11;
  training.bytes_done = 5'000;
  training.completion_median = kMicrosecond * 7;
  training.completion_p99 = kMicrosecond * 8;
  training.completion_max = kMicrosecond * 9;
  training.trace_step = kMicrosecond * 90;
  training.trace_recorded = true;
  training.steps = {{kMicrosecond * 10, kMicrosecond * 110, 6},
                    {kMicrosecond * 110, kMicrosecond * 410, 6}};
  return {training, {.name = "storage", .hosts = 8, .endless = true}};
}

}  // namespace openmrc::sim
