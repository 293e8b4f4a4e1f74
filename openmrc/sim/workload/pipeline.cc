// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/pipeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "openmrc/sim/workload/all_reduce.h"
#include "openmrc/sim/workload/collectives.h"
#include "openmrc/sim/workload/graph_workload.h"
#include "openmrc/sim/workload/ranks.h"
#include "openmrc/sim/workload/slice.h"

namespace openmrc::sim {
namespace {

class PipelineGraphs final : public GraphSource {
 public:
  explicit PipelineGraphs(const Pipeline& settings) : settings_(settings) {}
  [[nodiscard]] Graph graph(std::uint32_t rank) const override {
    return pipeline_graph(settings_, rank);
  }

 private:
  Pipeline settings_;
};

std::uint32_t width_of(const Pipeline& settings) { return settings.hosts / settings.stages; }

// One rank's part, computation after computation in the order of the schedule.
class StageBuilder {
 public:
  StageBuilder(const Pipeline& settings, std::uint32_t rank)
      : settings_(settings),
        rank_(rank),
        width_(width_of(settings)),
        stage_(rank / width_),
        is_last_(stage_ + 1 == settings.stages) {}

  Graph build() {
    const std::uint32_t batches = settings_.micro_batches;
    const std::uint32_t ahead = std::min(batches, settings_.stages - stage_);
    for (std::uint32_t i = 0; i < ahead; ++i) forward();
    for (std::uint32_t i = 0; i < batches; ++i) {
      backward();
      if (i + ahead < batches) forward();
    }
    if (settings_.all_reduce_bytes > 0 && width_ > 1) {
      all_reduce(graph_, group_of(rank_, stage_ * width_, 1, width_), settings_.all_reduce_bytes,
                 settings_.options, last_);
    }
    return graph_.take();
  }

 private:
  void forward() {
    Ops after = last_;
    if (stage_ > 0) after.push_back(graph_.receive(rank_ - width_, {}));
    last_ = {graph_.compute(settings_.forward, after)};
    if (!is_last_) graph_.send(rank_ + width_, settings_.bytes, last_);
  }

  void backward() {
    Ops after = last_;
    if (!is_last_) after.push_back(graph_.receive(rank_ + width_, {}));
    last_ = {graph_.compute(settings_.backward, after)};
    if (stage_ > 0) graph_.send(rank_ - width_, settings_.bytes, last_);
  }

  const Pipeline& settings_;
  std::uint32_t rank_;
  std::uint32_t width_;
  std::uint32_t stage_;
  bool is_last_;
  GraphBuilder graph_;
  Ops last_;
};

std::string problem_with_gradients(const Pipeline& settings, const fabric::Fabric& fabric) {
  const std::uint32_t width = width_of(settings);
  if (settings.all_reduce_bytes == 0 || width < 2) return {};
  auto problem = problem_with_vector(width, settings.all_reduce_bytes, fabric);
  if (!problem.empty()) return problem;
  return problem_with_all_reduce_options(width, settings.options);
}

}  // namespace

Graph pipeline_graph(const Pipeline& settings, std::uint32_t rank) {
  return StageBuilder(settings, rank).build();
}

std::string problem_with(const Pipeline& settings, const fabric::Fabric& fabric) {
  if (settings.steps == 0) return "a job needs a step";
  if (settings.stages < 2) return "a pipeline needs two stages";
  if (settings.hosts > fabric.hosts()) {
    return fmt::format("{} hosts are asked for, and the fabric has {}", settings.hosts,
                       fabric.hosts());
  }
  if (settings.hosts == 0 || settings.hosts % settings.stages != 0) {
    return fmt::format("{} stages have no equal share of {} hosts", settings.stages,
                       settings.hosts);
  }
  if (settings.micro_batches == 0 || settings.micro_batches > kMicroBatchesMax) {
    return fmt::format("a pipeline processes 1 to {} micro-batches", kMicroBatchesMax);
  }
  if (settings.bytes == 0 || settings.bytes > kMessageBytesMax) {
    return "activations have a byte to 1 TiB";
  }
  if (settings.forward < Picoseconds{} || settings.backward < Picoseconds{}) {
    return "a job cannot compute for less than no time";
  }
  if (auto problem = problem_with_gradients(settings, fabric); !problem.empty()) return problem;
  const std::uint32_t width = width_of(settings);
  const std::uint64_t gradients =
      settings.all_reduce_bytes == 0
          ? 0
          : ops_of_all_reduce(width, settings.all_reduce_bytes, settings.options);
  return problem_with_size(settings.hosts, 6 * std::uint64_t{settings.micro_batches} + gradients,
                           settings.micro_batches + gradients, settings.steps);
}

std::unique_ptr<Workload> workload_of(const Pipeline& settings, const fabric::Fabric& fabric,
                                      std::uint64_t /*seed*/) {
  return graph_workload(std::make_shared<PipelineGraphs>(settings),
                        Ranks(settings.hosts, settings.placement, fabric), settings.steps);
}

}  // namespace openmrc::sim
