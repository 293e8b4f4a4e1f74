// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/fabric/fabric.h"
#include "openmrc/fabric/parts.h"

namespace openmrc::fabric {

// Small enough to lay out by hand, as examples/fabrics/small.toml.
inline Fabric hand_made_fabric() {
  return Fabric::make({.planes = 2, .racks = 4, .hosts_per_rack = 4, .uplinks = 4}).value();
}

// Three pods of two racks; two T1s in each pod, eight T2s in each plane.
inline Fabric three_tiers() {
  return Fabric::make({.planes = 2,
                       .racks = 6,
                       .hosts_per_rack = 4,
                       .uplinks = 2,
                       .pods = 3,
                       .t1_uplinks = 4})
      .value();
}

// With the first, racks have two cabinets each and stand in pairs, with a line of two cabinets of
// T1s between the pairs.
inline Parts hand_made_parts() {
  return {.currency = "EUR",
          .prices_from = "a test",
          .switch_part = {.tbps = 0.8, .watts = 10, .price = 1000},
          .cables = {{.name = "copper",
                      .optical = false,
                      .gbps = 400,
                      .reach_m = 2,
                      .watts = 1,
                      .end_price = 0,
                      .price = 20},
                     {.name = "short optics",
                      .optical = true,
                      .gbps = 400,
                      .reach_m = 8.5,
                      .watts = 5,
                      .end_price = 30,
                      .price = 10},
                     {.name = "long optics",
                      .optical = true,
                      .gbps = 400,
                      .reach_m = 9,
                      .watts = 7,
                      .end_price = 40,
                      .price = 12}},
          .floor = {.hosts_per_cabinet = 2,
                    .switches_per_cabinet = 4,
                    .racks_per_line = 2,
                    .cabinet_m = 0.6,
                    .line_m = 2.4,
                    .in_cabinet_m = 2,
                    .to_tray_m = 2.5}};
}

}  // namespace openmrc::fabric
