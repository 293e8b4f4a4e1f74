// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "openmrc/fabric/fabric.h"
#include "openmrc/fabric/floor_plan.h"
#include "openmrc/fabric/parts.h"
#include "openmrc/fabric/plan.h"

// What a design draws and costs. NICs, hosts, cooling and spares are not in it.
namespace openmrc::fabric {

struct Bill {
  double switch_watts = 0;
  double cable_watts = 0;  // transceivers, or what the ends of copper cables draw
  double switch_price = 0;
  double cable_price = 0;

  [[nodiscard]] double watts() const { return switch_watts + cable_watts; }
  [[nodiscard]] double price() const { return switch_price + cable_price; }
  bool operator==(const Bill&) const = default;
};

// As designs without a place are compared: every cable is the first optical one.
Bill optical_bill(const Design& design, const Parts& parts);

// The links that one kind of cable connects.
struct CableUse {
  std::uint64_t host_links = 0;
  std::uint64_t switch_links = 0;
  std::uint64_t cables = 0;  // as many links share one as it has room for
  double longest_m = 0;
};

struct CablePlan {
  std::vector<CableUse> uses{};  // in the order of Parts::cables
  CableUse too_long{};           // no cable of the parts is long enough
};

// Which cable is long enough; nothing: none.
std::optional<std::size_t> cable_for(double metres, const Parts& parts);

CablePlan cable_plan(const Fabric& fabric, const Parts& parts);
// With the cheapest cable that is long enough for each link. Those that are too long are left out.
Bill bill_of(const Design& design, const CablePlan& plan, const Parts& parts);

// Every link, rack by rack: of each rack its host links first, plane by plane. Then those of T2s,
// T1 by T1.
void for_each_link(const Fabric& fabric, const std::function<void(const LinkId&)>& visit);

}  // namespace openmrc::fabric
