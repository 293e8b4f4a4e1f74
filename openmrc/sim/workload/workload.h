// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "openmrc/base/picoseconds.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/workload/program.h"

namespace openmrc::sim {

// Workloads as data. Every `hosts` counts from host 0 unless a list is given.

// Each host sends one message to one other, and receives one. The same seed gives the same pairs.
struct Permutation {
  std::uint64_t bytes = 0;
  std::uint32_t messages = 1;  // one after the other
  bool across_racks = false;   // only to hosts of other racks
};

// Many send to one; victims send to others meanwhile.
struct Incast {
  std::uint32_t target = 0;
  std::vector<std::uint32_t> senders{};
  std::uint64_t bytes = 0;  // from each
  Picoseconds stagger{};    // each sender starts so much after the one before it
  struct Victim {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<Victim> victims{};
};

// Where the ranks of a job sit.
enum class Placement : std::uint8_t {
  kPacked,  // rank r on host r: rack after rack is filled
  kSpread,  // dealt out over the racks, so that neighbours in rank are in different racks
};

struct AllToAll {
  std::uint32_t hosts = 0;
  std::uint64_t bytes = 0;  // from each host to all others together
  Placement placement = Placement::kPacked;
};

enum class AllReduceKind : std::uint8_t {
  kRing,
  kHalvingDoubling,
  kTree,          // two binary trees, each with half of the vector
  kHierarchical,  // in rings inside groups, and in rings across them
};

struct AllReduceOptions {
  AllReduceKind kind = AllReduceKind::kRing;
  std::uint64_t chunk = 0;  // pieces of the vector that follow each other; 0: one piece
  std::uint32_t group = 0;  // ranks of a group, of kHierarchical
  // Of a link of each rank inside its group, which is not part of the fabric; 0: there is none.
  std::uint64_t group_bits_per_second = 0;
};

struct AllReduce {
  std::uint32_t hosts = 0;
  std::uint64_t bytes = 0;  // of the vector that is reduced
  AllReduceKind kind = AllReduceKind::kRing;
  Placement placement = Placement::kPacked;
};

// Compute, then collectives of given sizes, one after the other, repeated.
struct TrainingSteps {
  std::uint32_t hosts = 0;
  std::uint32_t steps = 0;
  Picoseconds compute{};
  std::vector<std::uint64_t> all_reduce_bytes{};
  AllReduceKind kind = AllReduceKind::kRing;
  Placement placement = Placement::kPacked;
};

// Compute and all-reduces as a graph: other algorithms, pieces, and both at the same time.
struct OverlappedTraining {
  std::uint32_t hosts = 0;
  std::uint32_t steps = 0;
  Picoseconds compute{};
  std::vector<std::uint64_t> all_reduce_bytes{};
  AllReduceOptions options{};
  // The computation of a step has as many parts as there are all-reduces; behind each part goes
  // its all-reduce, while the next part is computed. Else they begin when all is computed.
  bool overlap = false;
  Placement placement = Placement::kPacked;
};

// Half of an all-reduce, in a ring.
struct RingHalf {
  std::uint32_t hosts = 0;
  std::uint32_t steps = 1;
  bool gather = false;      // all-gather, else reduce-scatter
  std::uint64_t bytes = 0;  // of the whole vector
  std::uint64_t chunk = 0;
  Placement placement = Placement::kPacked;
};

// A mixture of experts: in each layer every rank computes, sends tokens to the ranks that have the
// experts for them, these compute, and the tokens come back.
struct MixtureOfExperts {
  std::uint32_t hosts = 0;  // each has one expert
  std::uint32_t steps = 1;
  std::uint32_t layers = 1;
  std::uint64_t bytes = 0;            // of the tokens of a rank
  Picoseconds compute{};              // of a layer, before the tokens are sent
  Picoseconds expert_compute{};       // of an expert that gets its even share of tokens
  std::uint32_t skew_billionths = 0;  // 0: experts are alike; 1e9: the n-th gets 1/n of the first
  Placement placement = Placement::kPacked;
};

// A pipeline of stages, each on as many ranks, that process micro-batches: one forward, one
// backward. Then the ranks of a stage reduce their gradients.
struct Pipeline {
  std::uint32_t hosts = 0;
  std::uint32_t steps = 1;
  std::uint32_t stages = 0;
  std::uint32_t micro_batches = 0;
  std::uint64_t bytes = 0;  // of the activations of a micro-batch, and of their gradients
  Picoseconds forward{};    // of a stage and micro-batch
  Picoseconds backward{};
  std::uint64_t all_reduce_bytes = 0;  // 0: none
  AllReduceOptions options{};
  Placement placement = Placement::kPacked;
};

// What the ranks of a recorded or generated job do.
struct TraceJob;
struct TraceReplay {
  std::uint32_t hosts = 0;
  std::uint32_t steps = 1;
  std::shared_ptr<const TraceJob> job{};  // of as many ranks
  AllReduceOptions options{};
  Placement placement = Placement::kPacked;
};

// Messages that arrive at random, as of storage.
struct Background {
  struct Size {
    std::uint64_t bytes = 0;
    std::uint32_t weight = 0;
  };
  std::uint32_t hosts = 0;
  std::vector<Size> sizes{};
  std::uint64_t bits_per_second = 0;  // that each sender begins to send
  std::uint32_t servers = 0;          // the first so many get all messages; 0: all send to others
  std::uint32_t peers = 0;            // that a sender sends to, drawn by the seed
  Picoseconds duration{};             // 0: as long as the run
};

// A list of messages: explicit ones, or an htsim traffic file.
struct FlowList {
  struct Flow {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint64_t bytes = 0;
    Picoseconds start{};
    // Starts when this other flow, with its repeats, has arrived at this flow's sender or has been
    // sent by it, instead of at `start`. A flow elsewhere cannot be waited for.
    std::int32_t after = -1;
    std::uint32_t repeat = 1;  // so many of them, one after the other
  };
  std::vector<Flow> flows{};
};

// Several jobs that share the fabric. Each is as if it were alone, on its own hosts, which it
// numbers from 0.
struct Job;
struct JobList {
  std::vector<Job> jobs;  // without an initialiser, since a job is not known yet
};

using WorkloadSettings = std::variant<Permutation, Incast, AllToAll, AllReduce, TrainingSteps,
                                      FlowList, OverlappedTraining, RingHalf, MixtureOfExperts,
                                      Pipeline, TraceReplay, Background, JobList>;

struct Job {
  std::string name{};
  WorkloadSettings workload{};
  std::vector<fabric::HostIndex> hosts{};  // of rank 0, 1, ...
  Picoseconds at{};                        // when it begins
};

// Who talks to whom, and what runs on each host.
class Workload {
 public:
  virtual ~Workload() = default;

  // The hosts that `host` sends to, without repeats, in a fixed order. Connections are set up for
  // these before time begins.
  [[nodiscard]] virtual std::vector<fabric::HostIndex> destinations(
      fabric::HostIndex host) const = 0;
  // Null for a host that only receives or does nothing.
  [[nodiscard]] virtual std::unique_ptr<Program> program(fabric::HostIndex host) const = 0;
};

// How many steps its programs mark; 0 for a workload that has none.
std::uint32_t steps_of(const WorkloadSettings& settings);

// The settings fit the fabric: see check_workload.
std::unique_ptr<Workload> make_workload(const WorkloadSettings& settings,
                                        const fabric::Fabric& fabric, std::uint64_t seed);

// What is wrong with the settings for this fabric, for people; empty if nothing is.
std::string check_workload(const WorkloadSettings& settings, const fabric::Fabric& fabric);

}  // namespace openmrc::sim
