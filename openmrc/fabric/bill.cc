// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/bill.h"

#include <algorithm>
#include <cmath>

namespace openmrc::fabric {
namespace {

constexpr double kBitsPerGigabit = 1e9;

// Cables for so many bits per second in each direction.
double cables_for(double bits_per_second, const CablePart& part) {
  return std::ceil(bits_per_second / (part.gbps * kBitsPerGigabit));
}

void add_cables(double count, const CablePart& part, Bill& bill) {
  bill.cable_watts += 2 * count * part.watts;
  bill.cable_price += count * (2 * part.end_price + part.price);
}

Bill switch_bill(const Design& design, const Parts& parts) {
  const auto switches = static_cast<double>(design.switches_total());
  return {.switch_watts = switches * parts.switch_part.watts,
          .switch_price = switches * parts.switch_part.price};
}

}  // namespace

Bill optical_bill(const Design& design, const Parts& parts) {
  Bill bill = switch_bill(design, parts);
  const double ends = static_cast<double>(design.transceivers) * design.host_bits_per_second;
  add_cables(cables_for(ends / 2, parts.optics()), parts.optics(), bill);
  return bill;
}

std::optional<std::size_t> cable_for(double metres, const Parts& parts) {
  const auto found = std::ranges::find_if(
      parts.cables, [&](const CablePart& part) { return metres <= part.reach_m; });
  if (found == parts.cables.end()) return std::nullopt;
  return static_cast<std::size_t>(found - parts.cables.begin());
}

CablePlan cable_plan(const Fabric& fabric, const Parts& parts) {
  const Shape& shape = fabric.shape();
  const FloorPlan floor(fabric, parts.floor);
  CablePlan plan{.uses = std::vector<CableUse>(parts.cables.size())};
  for_each_link(fabric, [&](const LinkId& link) {
    const double metres = floor.metres(link);
    const auto cable = cable_for(metres, parts);
    CableUse& use = cable ? plan.uses[*cable] : plan.too_long;
    ++(link.kind == LinkId::Kind::kHost ? use.host_links : use.switch_links);
    use.longest_m = std::max(use.longest_m, metres);
  });
  for (std::size_t i = 0; i < plan.uses.size(); ++i) {
    CableUse& use = plan.uses[i];
    const double bits =
        static_cast<double>(use.host_links) * static_cast<double>(shape.host_link_bits_per_second) +
        static_cast<double>(use.switch_links) * static_cast<double>(shape.uplink_bits_per_second);
    use.cables = static_cast<std::uint64_t>(cables_for(bits, parts.cables[i]));
  }
  return plan;
}

Bill bill_of(const Design& design, const CablePlan& plan, const Parts& parts) {
  Bill bill = switch_bill(design, parts);
  for (std::size_t i = 0; i < plan.uses.size(); ++i) {
    add_cables(static_cast<double>(plan.uses[i].cables), parts.cables[i], bill);
  }
  return bill;
}

void for_each_link(const Fabric& fabric, const std::function<void(const LinkId&)>& visit) {
  const Shape& shape = fabric.shape();
  const auto each = [&](LinkId::Kind kind, std::uint32_t below, std::uint32_t ports) {
    for (std::uint32_t plane = 0; plane < shape.planes; ++plane) {
      for (std::uint32_t port = 0; port < ports; ++port) {
        visit({kind, Plane(static_cast<std::uint8_t>(plane)), below, port});
      }
    }
  };
  for (std::uint32_t rack = 0; rack < shape.racks; ++rack) {
    each(LinkId::Kind::kHost, rack, shape.hosts_per_rack);
    each(LinkId::Kind::kUplink, rack, shape.uplinks);
  }
  for (std::uint32_t t1 = 0; fabric.has_t2() && t1 < fabric.t1s(); ++t1) {
    each(LinkId::Kind::kT1Uplink, t1, shape.t1_uplinks);
  }
}

}  // namespace openmrc::fabric
