// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/workload.h"

#include "openmrc/sim/workload/all_to_all.h"
#include "openmrc/sim/workload/flow_list.h"
#include "openmrc/sim/workload/incast.h"
#include "openmrc/sim/workload/permutation.h"
#include "openmrc/sim/workload/training.h"

namespace openmrc::sim {

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
