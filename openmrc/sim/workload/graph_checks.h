// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "openmrc/sim/workload/graph.h"

// For tests: what the graphs of all ranks of a job do together.
namespace openmrc::sim {

inline std::uint64_t bytes_sent(const Graph& graph) {
  std::uint64_t bytes = 0;
  for (const Op& op : graph.ops) bytes += op.kind == OpKind::kSend ? op.bytes : 0;
  return bytes;
}

// Follows everything that can be done, and what each operation can know: of which ranks something
// went into it, by messages or on the rank itself.
class Knowledge {
 public:
  explicit Knowledge(const std::vector<Graph>& graphs) : graphs_(graphs) {
    for (const Graph& graph : graphs) {
      of_.emplace_back(graph.ops.size());
      waits_.push_back(graph.waits_for);
      done_.emplace_back(graph.ops.size());
    }
    while (pass()) {
    }
  }

  [[nodiscard]] const std::set<std::uint32_t>& of(std::uint32_t rank, OpIndex op) const {
    return of_[rank][op];
  }
  [[nodiscard]] bool all_done() const {
    return std::ranges::all_of(
        done_, [](const auto& rank) { return std::ranges::find(rank, false) == rank.end(); });
  }

 private:
  bool pass() {
    bool moved = false;
    for (std::uint32_t rank = 0; rank < graphs_.size(); ++rank) {
      for (OpIndex op = 0; op < graphs_[rank].ops.size(); ++op) moved = try_op(rank, op) || moved;
    }
    return moved;
  }

  bool try_op(std::uint32_t rank, OpIndex op) {
    const Graph& graph = graphs_[rank];
    if (done_[rank][op] || waits_[rank][op] > 0) return false;
    const Op& what = graph.ops[op];
    if (what.kind == OpKind::kReceive) {
      const Graph& other = graphs_[what.peer];
      const auto peer = std::ranges::find(other.peers, rank, &Graph::Peer::rank);
      if (peer == other.peers.end() || what.sequence >= peer->sends.size()) return false;
      const OpIndex send = peer->sends[what.sequence];
      if (!done_[what.peer][send]) return false;
      of_[rank][op].insert(of_[what.peer][send].begin(), of_[what.peer][send].end());
    }
    of_[rank][op].insert(rank);
    done_[rank][op] = true;
    for (std::uint32_t i = graph.first_dependent[op]; i < graph.first_dependent[op + 1]; ++i) {
      const OpIndex next = graph.dependents[i];
      --waits_[rank][next];
      of_[rank][next].insert(of_[rank][op].begin(), of_[rank][op].end());
    }
    return true;
  }

  const std::vector<Graph>& graphs_;
  std::vector<std::vector<std::set<std::uint32_t>>> of_;  // by rank and operation
  std::vector<std::vector<std::uint32_t>> waits_;
  std::vector<std::vector<bool>> done_;
};

}  // namespace openmrc::sim
