// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "openmrc/base/picoseconds.h"

// What a run gives. Integers only: the same run gives the same result, to the last digit, however
// many threads or processes made it.
namespace openmrc::sim {

struct FlowRecord {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t tag = 0;
  bool failed = false;  // the queue pair broke
  std::uint64_t bytes = 0;
  Picoseconds start{};
  Picoseconds end{};  // the sender knows that all has arrived; kNoTime: not before the run ended

  bool operator==(const FlowRecord&) const = default;
};

// Over all hosts that took part.
struct StepRecord {
  Picoseconds begin{};  // of the first host
  Picoseconds end{};    // of the last
  std::uint32_t hosts = 0;

  bool operator==(const StepRecord&) const = default;
};

// Why a packet ended before its destination.
enum class Loss : std::uint8_t {
  kLinkDown,     // the link failed, or the switch behind it
  kLinkError,    // the link's loss rate
  kDataFull,     // a data queue was full and did not trim
  kControlFull,  // a control queue was full
  kInFlight,     // it was on its way when the run ended
};
inline constexpr std::size_t kLosses = 5;

// Why packets were retransmitted, as the endpoint's counters have it.
enum class RetransmitReason : std::uint8_t {
  kLoss,
  kProbe,
  kTimeout,
  kTrim,
  kTrimLastHop,
  kRefused,
  kForAck,
};
inline constexpr std::size_t kRetransmitReasons = 7;

// Packets and payload bytes, from the network's point of view. Every packet that a host sends ends
// in exactly one of arrived and lost; a trimmed one arrives without its payload.
struct Totals {
  std::uint64_t data_packets_sent = 0;
  std::uint64_t control_packets_sent = 0;
  std::uint64_t payload_bytes_sent = 0;
  std::uint64_t data_packets_arrived = 0;
  std::uint64_t trimmed_packets_arrived = 0;
  std::uint64_t control_packets_arrived = 0;
  std::uint64_t payload_bytes_arrived = 0;
  std::uint64_t payload_bytes_trimmed = 0;
  std::uint64_t packets_trimmed = 0;
  std::uint64_t packets_marked = 0;
  std::uint64_t pauses = 0;  // times that a sender was told to pause (PFC)
  std::array<std::uint64_t, kLosses> packets_lost{};
  std::array<std::uint64_t, kLosses> payload_bytes_lost{};
  std::uint64_t switch_hops = 0;  // departures from switch ports
  std::uint64_t nic_hops = 0;     // departures from NIC ports
  std::uint64_t retransmissions = 0;
  std::uint64_t message_bytes_posted = 0;
  std::uint64_t message_bytes_completed = 0;
  std::uint64_t messages_failed = 0;
  std::array<std::uint64_t, kRetransmitReasons> retransmits{};  // by reason; RC has none
  std::uint64_t spurious_retransmits = 0;  // packets declared lost that arrived late
  std::uint64_t evs_suspected = 0;         // times that an EV was suspected of failure
  std::uint64_t evs_lost = 0;              // times that an EV was disabled for loss
  std::uint64_t evs_readmitted = 0;        // times that one was restored

  bool operator==(const Totals&) const = default;
  Totals& operator+=(const Totals& other);
};

// Queues of one kind of port.
enum class PortKind : std::uint8_t { kT0Up, kT1Down, kT0Down, kT1Up, kT2Down };
inline constexpr std::size_t kPortKinds = 5;

// EVs of all connections, by state (core::EvState's order: GOOD, SKIP, SUSPECT, ASSUMED_BAD,
// DENIED).
inline constexpr std::size_t kEvStates = 5;

// One slice of time.
struct Bucket {
  std::vector<std::uint64_t> payload_bytes;          // that arrived whole, by plane
  std::array<std::int64_t, kEvStates> ev_changes{};  // how many more (or fewer) are in each state
  std::array<std::uint64_t, kPortKinds> queue_max_bytes{};
  std::uint64_t marked = 0;
  std::uint64_t trimmed = 0;
  std::uint64_t lost = 0;
  std::uint64_t retransmissions = 0;

  bool operator==(const Bucket&) const = default;
};

// A fault as the report marks it.
struct FaultNote {
  Picoseconds from{};
  Picoseconds to = kNoTime;  // kNoTime: for good
  std::string text{};        // "p3.t1-4 down"

  bool operator==(const FaultNote&) const = default;
};

// One of several jobs of a run.
struct JobRecord {
  std::string name{};
  std::uint32_t hosts = 0;
  Picoseconds begin{};
  Picoseconds end = kNoTime;  // when the last of its hosts was done; kNoTime: not before the run
  bool endless = false;       // it lasts as long as the run
  std::uint64_t messages = 0;
  std::uint64_t messages_done = 0;
  std::uint64_t bytes_done = 0;
  // Of messages that ended well, from start to end; kNoTime if there are none.
  Picoseconds completion_median = kNoTime;
  Picoseconds completion_p99 = kNoTime;
  Picoseconds completion_max = kNoTime;
  // What a step takes by the trace that the job is made from, as recorded or by its computations
  // alone; kNoTime: it has none.
  Picoseconds trace_step = kNoTime;
  bool trace_recorded = false;
  std::vector<StepRecord> steps{};  // that all of its hosts have done

  bool operator==(const JobRecord&) const = default;
};

struct RunResult {
  std::string scenario{};   // its name
  std::string title{};      // what it shows
  std::string transport{};  // "mrc" or "rc"
  std::uint64_t seed = 0;
  std::uint32_t hosts = 0;
  std::uint32_t planes = 0;
  std::int64_t host_bits_per_second = 0;  // of all planes together
  Picoseconds end{};                      // when the last host was done, or the time limit
  bool finished = false;                  // every program was done by then
  Totals totals{};
  std::vector<FlowRecord> flows{};  // by start, from, to, tag
  std::vector<StepRecord> steps{};  // with several jobs these have them
  std::vector<JobRecord> jobs{};    // none if the run had one workload
  Picoseconds bucket_width{};
  std::vector<Bucket> buckets{};
  std::uint64_t evs = 0;  // of all connections, at the start, all GOOD
  std::vector<FaultNote> faults{};

  bool operator==(const RunResult&) const = default;
};

// Whether the run came to it: the workload may be done, or be interrupted, before.
bool was_reached(const RunResult& result, const FaultNote& fault);
std::vector<FaultNote> reached_faults(const RunResult& result);

// The value below or at which `per_thousand` of the sorted values lie (nearest rank).
Picoseconds percentile(const std::vector<Picoseconds>& sorted, std::uint32_t per_thousand);

// Times from start to end of the flows that ended well, sorted.
std::vector<Picoseconds> completion_times(const RunResult& result);

// What does not add up, for people; empty if every packet and byte is accounted for.
std::string check_packet_accounting(const Totals& totals);

}  // namespace openmrc::sim
