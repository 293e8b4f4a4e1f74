// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/host_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <variant>

#include "openmrc/sim/engine/connections.h"

namespace openmrc::sim {
namespace {

// The most that any host needs.
struct Needs {
  std::uint64_t queue_pairs = 0;
  std::uint64_t receives = 0;
};

Needs needs_of(const Scenario& scenario, const MrcTransport& mrc) {
  const auto fabric = *fabric::Fabric::make(scenario.shape);
  const auto workload = make_workload(scenario.workload, fabric, scenario.seed);
  const Connections connections(*workload, fabric.hosts());
  Needs needs;
  for (std::uint32_t i = 0; i < fabric.hosts(); ++i) {
    const fabric::HostIndex host(i);
    const std::uint64_t out = connections.outgoing(host).size();
    const std::uint64_t in = connections.incoming(host).size();
    needs.queue_pairs = std::max(needs.queue_pairs, (out + in) * mrc.queue_pairs);
    needs.receives = std::max(needs.receives, in * mrc.queue_pairs * mrc.profile.max_wimm);
  }
  return needs;
}

Result<void, std::string> check(std::string_view key, std::uint64_t limit, std::uint64_t needed) {
  if (needed <= limit) return {};
  return failure(
      fmt::format("transport.{} is {}, and a host of this workload needs {}", key, limit, needed));
}

}  // namespace

Result<void, std::string> check_host_limits(const Scenario& scenario) {
  const auto* mrc = std::get_if<MrcTransport>(&scenario.transport);
  if (mrc == nullptr) return {};
  const Needs needs = needs_of(scenario, *mrc);
  const core::EndpointLimits& limits = mrc->profile.limits;
  if (auto fits = check("max_queue_pairs", limits.queue_pairs, needs.queue_pairs); !fits) {
    return fits;
  }
  return check("max_receives", limits.receives_outstanding, needs.receives);
}

}  // namespace openmrc::sim
