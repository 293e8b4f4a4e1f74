// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/probe_load.h"

#include <algorithm>
#include <cmath>

#include "openmrc/fabric/usid_plan.h"
#include "openmrc/mapper/probe_plan.h"
#include "openmrc/mapper/rack_evidence.h"
#include "openmrc/mapper/tally.h"

namespace openmrc::mapper {
namespace {

constexpr std::uint64_t kLossesMax = 64;

struct Kinds {
  double t1 = 0;  // 1 if there are such probes
  double far = 0;
};

Kinds kinds_of(const fabric::Fabric& fabric) {
  const ProbePlan plan(fabric::UsidPlan(fabric), fabric::HostIndex(0));
  return {.t1 = fabric.has_t1() ? 1.0 : 0.0, .far = plan.partners() > 0 ? 1.0 : 0.0};
}

// How many a link needs that has one probe for each `others` of the rest.
template <class Enough>
std::uint64_t least_losses(std::uint64_t others, Enough is_enough) {
  constexpr std::uint64_t kMany = 1'000'000;
  std::uint64_t losses = kLossesMin;
  while (losses < kLossesMax &&
         !is_enough(Tally{.sent = kMany, .lost = losses}, Tally{.sent = others * kMany})) {
    ++losses;
  }
  return losses;
}

// A link among `candidates`.
std::uint64_t losses_wanted(std::uint64_t others, std::uint64_t candidates) {
  return least_losses(others, [&](const Tally& own, const Tally& rest) {
    return stands_out(own, rest, candidates);
  });
}

}  // namespace

ProbeLoad probe_load(const fabric::Fabric& fabric, double rounds_per_second) {
  const fabric::Shape& shape = fabric.shape();
  const Kinds kinds = kinds_of(fabric);
  const double rack = rounds_per_second * shape.hosts_per_rack;
  const double uplinks = std::max(1.0, static_cast<double>(shape.uplinks));
  ProbeLoad load;
  load.per_port = rounds_per_second * (1 + kinds.t1 + kinds.far);
  load.per_nic = load.per_port * shape.planes;
  load.per_host_link = load.per_port;
  // Those of its own rack, and far probes of others, as many in the mean as its own.
  load.per_uplink = rack / uplinks * (kinds.t1 + 2 * kinds.far);
  load.at_t0 = rack * (1 + 2 * kinds.t1 + 3 * kinds.far);
  load.at_t1 = rack * shape.racks / uplinks * (kinds.t1 + 2 * kinds.far);
  load.in_fabric = load.per_nic * fabric.hosts();
  return load;
}

std::uint64_t losses_for_host_link(const fabric::Fabric& fabric) {
  const std::uint64_t planes = fabric.shape().planes;
  return losses_wanted(std::max<std::uint64_t>(planes - 1, 1), planes);
}

std::uint64_t losses_for_uplink(const fabric::Fabric& fabric) {
  const std::uint64_t uplinks = fabric.shape().uplinks;
  const std::uint64_t all = uplinks * fabric.shape().planes;
  const std::uint64_t near = losses_wanted(uplinks, uplinks);
  return all < 2 ? near : std::max(near, losses_wanted(all - 1, all));
}

std::uint64_t losses_for_rack(const fabric::Fabric& fabric) {
  const std::uint64_t others = std::max<std::uint64_t>(fabric.shape().uplinks, 2) - 1;
  return least_losses(others, [&](const Tally& own, const Tally& rest) {
    return stands_out_in_rack(fabric.shape(), own, rest);
  });
}

double probes_of_host_link(double rounds_per_second) { return rounds_per_second; }

double probes_of_uplink(const fabric::Fabric& fabric, double rounds_per_second) {
  return rounds_per_second / std::max(1.0, static_cast<double>(fabric.shape().uplinks));
}

double rack_probes_of_uplink(const fabric::Fabric& fabric, double rounds_per_second) {
  return probes_of_uplink(fabric, rounds_per_second) * fabric.shape().hosts_per_rack;
}

// The number of probes until then is about a quantile of chi square (Wilson and Hilferty, 1931).
double seconds_to_find(std::uint64_t losses, double loss, double probes_per_second) {
  const auto count = static_cast<double>(losses);
  if (loss >= 1) return count / probes_per_second;
  constexpr double kQuantile95 = 1.645;
  const double spread = 1 / (9 * count);
  const double events = count * std::pow(1 - spread + kQuantile95 * std::sqrt(spread), 3);
  return events / loss / probes_per_second;
}

}  // namespace openmrc::mapper
