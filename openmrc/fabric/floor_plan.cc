// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/floor_plan.h"

#include <algorithm>

namespace openmrc::fabric {
namespace {

std::uint32_t groups_of(std::uint32_t count, std::uint32_t size) {
  return (count + size - 1) / size;
}

double distance(std::uint32_t a, std::uint32_t b) { return a > b ? a - b : b - a; }

}  // namespace

FloorPlan::FloorPlan(const Fabric& fabric, const FloorRules& rules)
    : fabric_(fabric),
      rules_(rules),
      cabinets_(groups_of(fabric.shape().hosts_per_rack, rules.hosts_per_cabinet)),
      host_lines_(groups_of(fabric.shape().racks, rules.racks_per_line)) {
  const Shape& shape = fabric.shape();
  const std::uint32_t switches = shape.planes * (fabric.t1s() + fabric.t2s());
  middle_lines_ = groups_of(groups_of(switches, rules.switches_per_cabinet), columns());
}

std::uint32_t FloorPlan::columns() const {
  return cabinets_ * std::min(rules_.racks_per_line, fabric_.shape().racks);
}

std::uint32_t FloorPlan::first_column(std::uint32_t rack) const {
  return rack % rules_.racks_per_line * cabinets_;
}

// The second half stands behind the T1s and T2s.
std::uint32_t FloorPlan::line_of_rack(std::uint32_t rack) const {
  const std::uint32_t line = rack / rules_.racks_per_line;
  return line < host_lines_ / 2 ? line : line + middle_lines_;
}

Cabinet FloorPlan::of_host(HostIndex host) const {
  const std::uint32_t rack = fabric_.rack_of(host);
  const std::uint32_t within = fabric_.downlink_of(host) / rules_.hosts_per_cabinet;
  return {line_of_rack(rack), first_column(rack) + within};
}

Cabinet FloorPlan::of_t0(std::uint32_t rack) const {
  return {line_of_rack(rack), first_column(rack) + cabinets_ / 2};
}

Cabinet FloorPlan::of_t1(Plane plane, std::uint32_t number) const {
  return in_the_middle(plane.raw() * fabric_.t1s() + number);
}

Cabinet FloorPlan::of_t2(Plane plane, std::uint32_t number) const {
  const std::uint32_t t1s = fabric_.shape().planes * fabric_.t1s();
  return in_the_middle(t1s + plane.raw() * fabric_.t2s() + number);
}

Cabinet FloorPlan::in_the_middle(std::uint32_t n) const {
  const std::uint32_t cabinet = n / rules_.switches_per_cabinet;
  return {host_lines_ / 2 + cabinet / columns(), cabinet % columns()};
}

Cabinet FloorPlan::lower_end(const LinkId& link) const {
  switch (link.kind) {
    case LinkId::Kind::kHost: return of_host(fabric_.host_at(link.rack, link.port));
    case LinkId::Kind::kUplink: return of_t0(link.rack);
    case LinkId::Kind::kT1Uplink: break;
  }
  return of_t1(link.plane, link.rack);
}

Cabinet FloorPlan::upper_end(const LinkId& link) const {
  switch (link.kind) {
    case LinkId::Kind::kHost: return of_t0(link.rack);
    case LinkId::Kind::kUplink: return of_t1(link.plane, fabric_.t1_of(link.rack, link.port));
    case LinkId::Kind::kT1Uplink: break;
  }
  return of_t2(link.plane, fabric_.t2_of(link.rack, link.port));
}

double FloorPlan::metres(const LinkId& link) const {
  const Cabinet a = lower_end(link);
  const Cabinet b = upper_end(link);
  if (a == b) return rules_.in_cabinet_m;
  return 2 * rules_.to_tray_m + distance(a.column, b.column) * rules_.cabinet_m +
         distance(a.line, b.line) * rules_.line_m;
}

}  // namespace openmrc::fabric
