// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "openmrc/sim/result/result.h"

// What follows from a result, for all reports.
namespace openmrc::sim {

struct Spread {
  Picoseconds median{};
  Picoseconds p99{};
  Picoseconds max{};
};

// Bits per second of a flow, from its start to its end.
struct FlowRates {
  double median = 0;
  double slowest_percent = 0;  // 99 % of the flows are at least as fast
  double slowest = 0;
};

struct Figures {
  std::size_t flows_done = 0;
  std::size_t flows_failed = 0;
  std::size_t flows_open = 0;  // neither, when the run ended
  Picoseconds last_done{};     // when the last flow was done that was
  std::optional<Spread> completion{};
  std::optional<FlowRates> flow_rates{};
  double goodput = 0;    // bits of complete messages per second, over the whole run
  double line_rate = 0;  // of the senders or of the receivers, whichever are fewer
  std::optional<Spread> step{};
  std::size_t worst_step = 0;      // its index
  std::uint64_t packets_lost = 0;  // not those that were in flight at the end
  // Of which kind they were; here those in flight cannot be told apart from lost ones.
  std::uint64_t data_packets_missing = 0;
  std::uint64_t control_packets_missing = 0;
  std::uint64_t evs_out_most = 0;  // disabled at the end of a slice of time, at most
  std::uint64_t evs_out_at_end = 0;
};

Figures figures_of(const RunResult& result);

// Of the steps of a job; nothing if there are none.
std::optional<Spread> step_times(const std::vector<StepRecord>& steps);

// How long a job took, for people.
std::string time_of(const JobRecord& job);

// "link down", for people.
std::string_view name(Loss loss);

// What tells one result from another: the transports if they differ, or the scenarios, or the
// seeds.
struct Labels {
  std::string first{};
  std::string second{};
};
Labels labels_of(const RunResult& first, const RunResult& second);

// The transport as people write it.
std::string transport_name(const RunResult& result);

}  // namespace openmrc::sim
