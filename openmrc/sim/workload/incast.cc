// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/incast.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "openmrc/sim/workload/flow_list.h"

namespace openmrc::sim {

FlowList flows_of(const Incast& settings) {
  FlowList list;
  Picoseconds start{};
  for (const std::uint32_t sender : settings.senders) {
    list.flows.push_back(
        {.from = sender, .to = settings.target, .bytes = settings.bytes, .start = start});
    start += settings.stagger;
  }
  for (const Incast::Victim& victim : settings.victims) {
    list.flows.push_back({.from = victim.from, .to = victim.to, .bytes = victim.bytes});
  }
  return list;
}

std::string problem_with(const Incast& settings, const fabric::Fabric& fabric) {
  if (settings.senders.empty()) return "an incast needs senders";
  std::vector<std::uint32_t> senders = settings.senders;
  std::ranges::sort(senders);
  const auto twice = std::ranges::adjacent_find(senders);
  if (twice != senders.end()) return fmt::format("host {} is named twice as a sender", *twice);
  const auto count = static_cast<std::int64_t>(senders.size());
  if (settings.stagger < Picoseconds{} || settings.stagger > kNoTime / (2 * count)) {
    return "stagger is below zero or too long";
  }
  return problem_with(flows_of(settings), fabric);
}

std::unique_ptr<Workload> workload_of(const Incast& settings, const fabric::Fabric& fabric,
                                      std::uint64_t seed) {
  return workload_of(flows_of(settings), fabric, seed);
}

}  // namespace openmrc::sim
