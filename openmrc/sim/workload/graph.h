// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "openmrc/base/picoseconds.h"
#include "openmrc/sim/workload/program.h"

namespace openmrc::sim {

// What a rank does in one iteration of a job: operations, and which of them wait for which.

using OpIndex = std::uint32_t;
using Ops = std::vector<OpIndex>;

enum class OpKind : std::uint8_t {
  kSend,     // done when the message has arrived and the sender knows
  kReceive,  // done when the message is here
  kCompute,  // one at a time on a rank
  kDelay,    // takes its time whatever else goes on
  kJoin,     // takes none
};

struct Op {
  OpKind kind = OpKind::kJoin;
  std::uint32_t peer = 0;      // rank, of kSend and kReceive
  std::uint64_t bytes = 0;     // of kSend
  Picoseconds time{};          // of kCompute and kDelay
  std::uint32_t sequence = 0;  // among the messages of this pair in this direction
};

// The operations of all ranks of a job together, so that memory stays bounded.
inline constexpr std::uint64_t kGraphOpsMax = std::uint64_t{1} << 26;
// Messages from one rank to another in a job. A tag has room for the number of the job beside it.
inline constexpr std::uint32_t kTagBits = 24;
inline constexpr std::uint64_t kGraphTagsMax = std::uint64_t{1} << kTagBits;

struct Graph {
  // The messages of a pair, each way in the order of their numbers.
  struct Peer {
    std::uint32_t rank = 0;
    Ops sends{};
    Ops receives{};
  };
  std::vector<Op> ops{};
  std::vector<std::uint32_t> waits_for{};  // how many others each operation waits for
  std::vector<std::uint32_t> first_dependent{};
  Ops dependents{};           // of operation i: from first_dependent[i] to first_dependent[i + 1]
  std::vector<Peer> peers{};  // in the order in which they were first mentioned
};

// The n-th message that one rank sends to another is the n-th that the other receives from it: in
// the order in which they are added here, whenever they are sent.
class GraphBuilder {
 public:
  OpIndex send(std::uint32_t to, std::uint64_t bytes, const Ops& after);
  OpIndex receive(std::uint32_t from, const Ops& after);
  OpIndex compute(Picoseconds time, const Ops& after);
  OpIndex delay(Picoseconds time, const Ops& after);
  OpIndex join(const Ops& after);
  void wait_for(OpIndex op, OpIndex other) { edges_.emplace_back(other, op); }

  // `op` must not wait for itself, through others or not.
  [[nodiscard]] Graph take();

 private:
  OpIndex add(const Op& op, const Ops& after);
  Graph::Peer& peer(std::uint32_t rank);

  Graph graph_;
  std::vector<std::uint32_t> place_of_peer_;  // by rank; 1 more than its place, 0 for none
  std::vector<std::pair<OpIndex, OpIndex>> edges_;
};

// Whether everything in it can be done: nothing waits for itself.
bool is_acyclic(const Graph& graph);

}  // namespace openmrc::sim
