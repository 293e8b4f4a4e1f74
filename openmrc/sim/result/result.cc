// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/result/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "openmrc/base/check.h"

namespace openmrc::sim {

Totals& Totals::operator+=(const Totals& other) {
  data_packets_sent += other.data_packets_sent;
  control_packets_sent += other.control_packets_sent;
  payload_bytes_sent += other.payload_bytes_sent;
  data_packets_arrived += other.data_packets_arrived;
  trimmed_packets_arrived += other.trimmed_packets_arrived;
  control_packets_arrived += other.control_packets_arrived;
  payload_bytes_arrived += other.payload_bytes_arrived;
  payload_bytes_trimmed += other.payload_bytes_trimmed;
  packets_trimmed += other.packets_trimmed;
  packets_marked += other.packets_marked;
  pauses += other.pauses;
  for (std::size_t i = 0; i < kLosses; ++i) {
    packets_lost[i] += other.packets_lost[i];
    payload_bytes_lost[i] += other.payload_bytes_lost[i];
  }
  switch_hops += other.switch_hops;
  nic_hops += other.nic_hops;
  retransmissions += other.retransmissions;
  message_bytes_posted += other.message_bytes_posted;
  message_bytes_completed += other.message_bytes_completed;
  messages_failed += other.messages_failed;
  for (std::size_t i = 0; i < kRetransmitReasons; ++i) retransmits[i] += other.retransmits[i];
  spurious_retransmits += other.spurious_retransmits;
  evs_suspected += other.evs_suspected;
  evs_lost += other.evs_lost;
  evs_readmitted += other.evs_readmitted;
  return *this;
}

bool was_reached(const RunResult& result, const FaultNote& fault) {
  return fault.from <= result.end;
}

std::vector<FaultNote> reached_faults(const RunResult& result) {
  std::vector<FaultNote> faults;
  std::ranges::copy_if(result.faults, std::back_inserter(faults),
                       [&](const FaultNote& fault) { return was_reached(result, fault); });
  return faults;
}

Picoseconds percentile(const std::vector<Picoseconds>& sorted, std::uint32_t per_thousand) {
  OPENMRC_CHECK(!sorted.empty() && per_thousand <= 1000, "a percentile of something");
  const std::size_t rank = (sorted.size() * per_thousand + 999) / 1000;
  return sorted[rank == 0 ? 0 : rank - 1];
}

std::vector<Picoseconds> completion_times(const RunResult& result) {
  std::vector<Picoseconds> times;
  times.reserve(result.flows.size());
  for (const FlowRecord& flow : result.flows) {
    if (!flow.failed && flow.end != kNoTime) times.push_back(flow.end - flow.start);
  }
  std::sort(times.begin(), times.end());
  return times;
}

std::string check_packet_accounting(const Totals& totals) {
  const auto sum = [](const auto& parts) {
    return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
  };
  const std::uint64_t packets_sent = totals.data_packets_sent + totals.control_packets_sent;
  const std::uint64_t packets_ended = totals.data_packets_arrived + totals.trimmed_packets_arrived +
                                      totals.control_packets_arrived + sum(totals.packets_lost);
  if (packets_sent != packets_ended) {
    return fmt::format("{} packets were sent, {} arrived or were lost", packets_sent,
                       packets_ended);
  }
  const std::uint64_t bytes_ended =
      totals.payload_bytes_arrived + totals.payload_bytes_trimmed + sum(totals.payload_bytes_lost);
  if (totals.payload_bytes_sent != bytes_ended) {
    return fmt::format("{} payload bytes were sent, {} arrived, were trimmed or were lost",
                       totals.payload_bytes_sent, bytes_ended);
  }
  return {};
}

}  // namespace openmrc::sim
