// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/training_graph.h"

#include <algorithm>
#include <utility>

#include "openmrc/sim/workload/all_reduce.h"
#include "openmrc/sim/workload/collectives.h"
#include "openmrc/sim/workload/graph_workload.h"
#include "openmrc/sim/workload/ranks.h"
#include "openmrc/sim/workload/slice.h"

namespace openmrc::sim {
namespace {

class TrainingGraphs final : public GraphSource {
 public:
  explicit TrainingGraphs(OverlappedTraining settings) : settings_(std::move(settings)) {}
  [[nodiscard]] Graph graph(std::uint32_t rank) const override {
    return training_graph(settings_, rank);
  }

 private:
  OverlappedTraining settings_;
};

class RingHalfGraphs final : public GraphSource {
 public:
  explicit RingHalfGraphs(const RingHalf& settings) : settings_(settings) {}
  [[nodiscard]] Graph graph(std::uint32_t rank) const override {
    return ring_half_graph(settings_, rank);
  }

 private:
  RingHalf settings_;
};

Picoseconds part_of(Picoseconds whole, std::size_t parts, std::size_t index) {
  const auto count = static_cast<std::int64_t>(parts);
  const auto i = static_cast<std::int64_t>(index);
  return Picoseconds(whole.raw() / count + (i < whole.raw() % count ? 1 : 0));
}

}  // namespace

Graph training_graph(const OverlappedTraining& settings, std::uint32_t rank) {
  GraphBuilder graph;
  const RankGroup all = group_of(rank, 0, 1, settings.hosts);
  const std::size_t parts = settings.all_reduce_bytes.size();
  Ops computed = settings.overlap ? Ops{} : Ops{graph.compute(settings.compute, {})};
  Ops reduced;
  for (std::size_t i = 0; i < parts; ++i) {
    if (settings.overlap) computed = {graph.compute(part_of(settings.compute, parts, i), computed)};
    reduced.insert(reduced.end(), computed.begin(), computed.end());
    reduced = all_reduce(graph, all, settings.all_reduce_bytes[i], settings.options, reduced);
  }
  return graph.take();
}

Graph ring_half_graph(const RingHalf& settings, std::uint32_t rank) {
  GraphBuilder graph;
  const RankGroup all = group_of(rank, 0, 1, settings.hosts);
  if (settings.gather) {
    all_gather(graph, all, settings.bytes, settings.chunk, {});
  } else {
    reduce_scatter(graph, all, settings.bytes, settings.chunk, {});
  }
  return graph.take();
}

std::string problem_with(const OverlappedTraining& settings, const fabric::Fabric& fabric) {
  if (settings.steps == 0) return "a job needs a step";
  if (settings.compute < Picoseconds{}) return "a job cannot compute for less than no time";
  if (settings.all_reduce_bytes.empty()) return "a step needs an all-reduce";
  std::uint64_t ops = 1;
  std::uint64_t messages = 0;
  for (const std::uint64_t bytes : settings.all_reduce_bytes) {
    if (auto problem = problem_with_vector(settings.hosts, bytes, fabric); !problem.empty()) {
      return problem;
    }
    auto problem = problem_with_all_reduce_options(settings.hosts, settings.options);
    if (!problem.empty()) return problem;
    ops += 1 + ops_of_all_reduce(settings.hosts, bytes, settings.options);
    messages += 2 * settings.hosts * chunks_of(bytes, settings.options.chunk, settings.hosts);
  }
  return problem_with_size(settings.hosts, ops, messages, settings.steps);
}

std::unique_ptr<Workload> workload_of(const OverlappedTraining& settings,
                                      const fabric::Fabric& fabric, std::uint64_t /*seed*/) {
  return graph_workload(std::make_shared<TrainingGraphs>(settings),
                        Ranks(settings.hosts, settings.placement, fabric), settings.steps);
}

std::string problem_with(const RingHalf& settings, const fabric::Fabric& fabric) {
  if (settings.steps == 0) return "a job needs a step";
  if (auto problem = problem_with_vector(settings.hosts, settings.bytes, fabric);
      !problem.empty()) {
    return problem;
  }
  return problem_with_size(
      settings.hosts, ops_of_ring(settings.hosts, settings.bytes, settings.chunk),
      settings.hosts * chunks_of(settings.bytes, settings.chunk, settings.hosts), settings.steps);
}

std::unique_ptr<Workload> workload_of(const RingHalf& settings, const fabric::Fabric& fabric,
                                      std::uint64_t /*seed*/) {
  return graph_workload(std::make_shared<RingHalfGraphs>(settings),
                        Ranks(settings.hosts, settings.placement, fabric), settings.steps);
}

}  // namespace openmrc::sim
