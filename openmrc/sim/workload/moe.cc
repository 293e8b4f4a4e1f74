// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/moe.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "openmrc/base/rng.h"
#include "openmrc/sim/workload/all_reduce.h"
#include "openmrc/sim/workload/collectives.h"
#include "openmrc/sim/workload/graph_workload.h"
#include "openmrc/sim/workload/ranks.h"

namespace openmrc::sim {
namespace {

constexpr std::uint64_t kAllSkew = 1'000'000'000;
// Of the most wanted expert. Weights of all experts and bytes of all tokens fit in 128 bits.
constexpr std::uint64_t kWeightOne = std::uint64_t{1} << 32;

class MoeGraphs final : public GraphSource {
 public:
  MoeGraphs(const MixtureOfExperts& settings, std::uint64_t seed)
      : settings_(settings), seed_(seed) {}
  [[nodiscard]] Graph graph(std::uint32_t rank) const override {
    return moe_graph(settings_, seed_, rank);
  }

 private:
  MixtureOfExperts settings_;
  std::uint64_t seed_;
};

std::uint64_t scaled(std::uint64_t value, std::uint64_t part, std::uint64_t whole) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{value} * part / whole);
}

}  // namespace

// Zipf's law, mixed with equal shares: whole numbers, so that every machine has the same ones.
std::vector<std::uint64_t> expert_weights(const MixtureOfExperts& settings, std::uint32_t layer,
                                          std::uint64_t seed) {
  std::vector<std::uint64_t> weights;
  for (std::uint64_t place = 1; place <= settings.hosts; ++place) {
    const std::uint64_t skewed = kWeightOne / place * settings.skew_billionths / kAllSkew;
    const std::uint64_t even = kWeightOne * (kAllSkew - settings.skew_billionths) / kAllSkew;
    weights.push_back(std::max<std::uint64_t>(skewed + even, 1));
  }
  Rng rng = Rng(seed).fork(layer);
  for (std::size_t i = weights.size(); i > 1; --i) {
    std::swap(weights[i - 1], weights[rng.below(i)]);
  }
  return weights;
}

Graph moe_graph(const MixtureOfExperts& settings, std::uint64_t seed, std::uint32_t rank) {
  GraphBuilder graph;
  const RankGroup all = group_of(rank, 0, 1, settings.hosts);
  Ops last;
  for (std::uint32_t layer = 0; layer < settings.layers; ++layer) {
    const auto weights = expert_weights(settings, layer, seed);
    const std::uint64_t sum = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
    std::vector<std::uint64_t> sent;
    sent.reserve(weights.size());
    for (const std::uint64_t weight : weights) {
      sent.push_back(std::max<std::uint64_t>(scaled(settings.bytes, weight, sum), 1));
    }
    const std::vector<std::uint64_t> returned(settings.hosts, sent[rank]);
    const auto share = scaled(static_cast<std::uint64_t>(settings.expert_compute.raw()),
                              weights[rank] * settings.hosts, sum);
    last = all_to_all(graph, all, sent, {graph.compute(settings.compute, last)});
    const Ops computed{graph.compute(Picoseconds(static_cast<std::int64_t>(share)), last)};
    last = all_to_all(graph, all, returned, computed);
  }
  return graph.take();
}

std::string problem_with(const MixtureOfExperts& settings, const fabric::Fabric& fabric) {
  if (auto problem = problem_with_vector(settings.hosts, settings.bytes, fabric);
      !problem.empty()) {
    return problem;
  }
  if (settings.steps == 0 || settings.layers == 0) return "a job needs a step and a layer";
  if (settings.layers > kLayersMax) return fmt::format("a job has at most {} layers", kLayersMax);
  if (settings.compute < Picoseconds{} || settings.expert_compute < Picoseconds{}) {
    return "a job cannot compute for less than no time";
  }
  const std::uint64_t ops_of_layer = 4 * std::uint64_t{settings.hosts} + 4;
  return problem_with_size(settings.hosts, settings.layers * ops_of_layer,
                           2 * std::uint64_t{settings.layers}, settings.steps);
}

std::unique_ptr<Workload> workload_of(const MixtureOfExperts& settings,
                                      const fabric::Fabric& fabric, std::uint64_t seed) {
  return graph_workload(std::make_shared<MoeGraphs>(settings, seed),
                        Ranks(settings.hosts, settings.placement, fabric), settings.steps);
}

}  // namespace openmrc::sim
