// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/workload.h"

#include "openmrc/sim/workload/all_to_all.h"
#include "openmrc/sim/workload/background.h"
#include "openmrc/sim/workload/flow_list.h"
#include "openmrc/sim/workload/incast.h"
#include "openmrc/sim/workload/job_list.h"
#include "openmrc/sim/workload/moe.h"
#include "openmrc/sim/workload/permutation.h"
#include "openmrc/sim/workload/pipeline.h"
#include "openmrc/sim/workload/trace_replay.h"
#include "openmrc/sim/workload/training.h"
#include "openmrc/sim/workload/training_graph.h"

namespace openmrc::sim {
namespace {

// Those that mark steps have a number of them; an all-reduce or an all-to-all is one.
template <class Settings>
concept HasSteps = requires(const Settings& settings) { settings.steps; };

struct StepCount {
  template <HasSteps Settings>
  std::uint32_t operator()(const Settings& settings) const {
    return settings.steps;
  }
  std::uint32_t operator()(const AllToAll& /*settings*/) const { return 1; }
  std::uint32_t operator()(const AllReduce& /*settings*/) const { return 1; }
  std::uint32_t operator()(const auto& /*settings*/) const { return 0; }
};

}  // namespace

std::uint32_t steps_of(const WorkloadSettings& settings) {
  return std::visit(StepCount{}, settings);
}

std::string check_workload(const WorkloadSettings& settings, const fabric::Fabric& fabric) {
  return std::visit([&](const auto& of_kind) { return problem_with(of_kind, fabric); }, settings);
}

std::unique_ptr<Workload> make_workload(const WorkloadSettings& settings,
                                        const fabric::Fabric& fabric, std::uint64_t seed) {
  OPENMRC_CHECK(check_workload(settings, fabric).empty(), "the workload does not fit the fabric");
  return std::visit([&](const auto& of_kind) { return workload_of(of_kind, fabric, seed); },
                    settings);
}

}  // namespace openmrc::sim
