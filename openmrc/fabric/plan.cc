// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "openmrc/base/check.h"

namespace openmrc::fabric {
namespace {

constexpr std::uint32_t kThreeTiers = 3;
constexpr std::uint32_t kRadixLeast = 4;  // with two ports a switch branches nowhere

// Both ends of so much capacity, in transceivers of `each`.
std::uint64_t transceivers_for(double bits_per_second, double each) {
  return static_cast<std::uint64_t>(std::ceil(2 * bits_per_second / each));
}

std::uint64_t parts(std::uint64_t whole, std::uint64_t size) { return (whole + size - 1) / size; }

Design design_of(const Fabric& fabric) {
  const Shape& shape = fabric.shape();
  const auto host_link = static_cast<double>(shape.host_link_bits_per_second);
  const auto uplink = static_cast<double>(shape.uplink_bits_per_second);
  Design design;
  design.planes = shape.planes;
  design.hosts = fabric.hosts();
  design.host_bits_per_second = shape.planes * host_link;
  design.switches.push_back(std::uint64_t{shape.planes} * shape.racks);
  design.host_links = design.hosts * shape.planes;
  design.hosts_per_t0 = shape.hosts_per_rack;
  const double host_capacity = static_cast<double>(design.host_links) * host_link;
  design.loss.nic_port = design.loss.t0 = 1.0 / shape.planes;
  double crossing = host_capacity;  // what may leave all hosts, or all racks, or all pods
  if (fabric.has_t1()) {
    design.switches.push_back(std::uint64_t{shape.planes} * fabric.t1s());
    design.switch_links = std::uint64_t{shape.planes} * shape.racks * shape.uplinks;
    const double uplink_capacity = static_cast<double>(design.switch_links) * uplink;
    crossing = std::min(crossing, uplink_capacity);
    design.longest_path = 3;
    design.oversubscription = host_capacity / uplink_capacity;
    design.loss.uplink_of_t0 = 1.0 / shape.uplinks;
    design.loss.uplink = design.loss.uplink_of_t0 / shape.planes;
    design.loss.t1 = design.loss.uplink * shape.links_per_t1;
  }
  if (fabric.has_t2()) {
    design.switches.push_back(std::uint64_t{shape.planes} * fabric.t2s());
    const std::uint64_t t1_uplinks = std::uint64_t{shape.planes} * fabric.t1s() * shape.t1_uplinks;
    design.switch_links += t1_uplinks;
    design.longest_path = 5;
    design.loss.t2 = design.loss.t1 / shape.t1_uplinks;
    crossing = std::min(crossing, static_cast<double>(t1_uplinks) * uplink);
  }
  design.bisection_bits_per_second = crossing / 2;
  const double switch_capacity = static_cast<double>(design.switch_links) * uplink;
  design.transceivers =
      transceivers_for(host_capacity + switch_capacity, design.host_bits_per_second);
  return design;
}

// The most hosts that a tree of switches with `radix` ports has, or more than any fabric.
std::uint64_t hosts_max(std::uint32_t radix, std::uint32_t tiers) {
  constexpr std::uint64_t kEnough = std::uint64_t{1} << 40;
  std::uint64_t hosts = 2;
  for (std::uint32_t tier = 0; tier < tiers && hosts < kEnough; ++tier) hosts *= radix / 2;
  return hosts;
}

// A folded Clos network of full bisection: half of the ports of each switch go down and half go
// up, but for the uppermost tier, where all go down.
Design single_plane(std::uint32_t radix, std::uint32_t tiers, std::uint64_t hosts,
                    double host_bits_per_second) {
  Design design;
  design.hosts = hosts;
  design.host_bits_per_second = host_bits_per_second;
  for (std::uint32_t tier = 0; tier < tiers; ++tier) {
    design.switches.push_back(parts(hosts, tier + 1 < tiers ? radix / 2 : radix));
  }
  design.host_links = hosts;
  design.switch_links = hosts * (tiers - 1);
  design.transceivers = 2 * (design.host_links + design.switch_links);
  design.longest_path = 2 * tiers - 1;
  design.hosts_per_t0 = tiers > 1 ? radix / 2 : radix;
  design.bisection_bits_per_second = static_cast<double>(hosts) * host_bits_per_second / 2;
  design.loss.nic_port = design.loss.t0 = 1;
  if (tiers > 1) {
    // Every uplink of a T0 leads to another T1.
    design.loss.uplink_of_t0 = design.loss.uplink = design.loss.t1 = 2.0 / radix;
  }
  if (tiers > 2) design.loss.t2 = design.loss.t1 * 2.0 / radix;
  return design;
}

}  // namespace

std::uint64_t Design::switches_total() const {
  return std::accumulate(switches.begin(), switches.end(), std::uint64_t{0});
}

Plan plan_of(const Fabric& fabric) {
  const Shape& shape = fabric.shape();
  Plan plan;
  plan.fabric = design_of(fabric);
  const auto uplink = static_cast<double>(shape.uplink_bits_per_second);
  const double t0 = static_cast<double>(shape.host_link_bits_per_second) * shape.hosts_per_rack +
                    uplink * shape.uplinks;
  const double t1 = fabric.has_t1() ? uplink * fabric.t1_ports() : 0;
  const double t2 = fabric.has_t2() ? uplink * shape.pods : 0;
  plan.switch_bits_per_second = std::max({t0, t1, t2});
  const double host_rate = plan.fabric.host_bits_per_second;
  plan.radix = static_cast<std::uint32_t>(plan.switch_bits_per_second / host_rate) / 2 * 2;
  if (plan.radix < kRadixLeast) return plan;
  plan.three_tiers =
      single_plane(plan.radix, kThreeTiers, hosts_max(plan.radix, kThreeTiers), host_rate);
  std::uint32_t tiers = 1;
  while (hosts_max(plan.radix, tiers) < plan.fabric.hosts) ++tiers;
  OPENMRC_CHECK(tiers <= kTiersMax, "the largest fabric needs fewer tiers");
  plan.same_hosts = single_plane(plan.radix, tiers, plan.fabric.hosts, host_rate);
  return plan;
}

}  // namespace openmrc::fabric
