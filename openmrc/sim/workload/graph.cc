// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/graph.h"

namespace openmrc::sim {

OpIndex GraphBuilder::add(const Op& op, const Ops& after) {
  const auto index = static_cast<OpIndex>(graph_.ops.size());
  graph_.ops.push_back(op);
  for (const OpIndex other : after) wait_for(index, other);
  return index;
}

Graph::Peer& GraphBuilder::peer(std::uint32_t rank) {
  if (rank >= place_of_peer_.size()) place_of_peer_.resize(rank + 1);
  std::uint32_t& place = place_of_peer_[rank];
  if (place == 0) {
    graph_.peers.push_back({.rank = rank});
    place = static_cast<std::uint32_t>(graph_.peers.size());
  }
  return graph_.peers[place - 1];
}

OpIndex GraphBuilder::send(std::uint32_t to, std::uint64_t bytes, const Ops& after) {
  Ops& sends = peer(to).sends;
  const auto sequence = static_cast<std::uint32_t>(sends.size());
  sends.push_back(static_cast<OpIndex>(graph_.ops.size()));
  return add({.kind = OpKind::kSend, .peer = to, .bytes = bytes, .sequence = sequence}, after);
}

OpIndex GraphBuilder::receive(std::uint32_t from, const Ops& after) {
  Ops& receives = peer(from).receives;
  const auto sequence = static_cast<std::uint32_t>(receives.size());
  receives.push_back(static_cast<OpIndex>(graph_.ops.size()));
  return add({.kind = OpKind::kReceive, .peer = from, .sequence = sequence}, after);
}

OpIndex GraphBuilder::compute(Picoseconds time, const Ops& after) {
  return add({.kind = OpKind::kCompute, .time = time}, after);
}

OpIndex GraphBuilder::delay(Picoseconds time, const Ops& after) {
  return add({.kind = OpKind::kDelay, .time = time}, after);
}

OpIndex GraphBuilder::join(const Ops& after) { return add({.kind = OpKind::kJoin}, after); }

Graph GraphBuilder::take() {
  const std::size_t count = graph_.ops.size();
  graph_.waits_for.assign(count, 0);
  graph_.first_dependent.assign(count + 1, 0);
  for (const auto& [first, then] : edges_) {
    ++graph_.waits_for[then];
    ++graph_.first_dependent[first + 1];
  }
  for (std::size_t i = 0; i < count; ++i) {
    graph_.first_dependent[i + 1] += graph_.first_dependent[i];
  }
  graph_.dependents.resize(edges_.size());
  std::vector<std::uint32_t> next(graph_.first_dependent.begin(), graph_.first_dependent.end());
  for (const auto& [first, then] : edges_) graph_.dependents[next[first]++] = then;
  edges_.clear();
  return std::move(graph_);
}

bool is_acyclic(const Graph& graph) {
  std::vector<std::uint32_t> waits = graph.waits_for;
  Ops free;
  for (OpIndex op = 0; op < waits.size(); ++op) {
    if (waits[op] == 0) free.push_back(op);
  }
  for (std::size_t done = 0; done < free.size(); ++done) {
    const OpIndex op = free[done];
    for (std::uint32_t i = graph.first_dependent[op]; i < graph.first_dependent[op + 1]; ++i) {
      if (--waits[graph.dependents[i]] == 0) free.push_back(graph.dependents[i]);
    }
  }
  return free.size() == graph.ops.size();
}

}  // namespace openmrc::sim
