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

enum class AllReduceKind : std::uint8_t { kRing, kHalvingDoubling };

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

using WorkloadSettings =
    std::variant<Permutation, Incast, AllToAll, AllReduce, TrainingSteps, FlowList>;

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

// The settings fit the fabric: see check_workload.
std::unique_ptr<Workload> make_workload(const WorkloadSettings& settings,
                                        const fabric::Fabric& fabric, std::uint64_t seed);

// What is wrong with the settings for this fabric, for people; empty if nothing is.
std::string check_workload(const WorkloadSettings& settings, const fabric::Fabric& fabric);

}  // namespace openmrc::sim
