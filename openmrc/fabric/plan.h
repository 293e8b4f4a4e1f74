// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "openmrc/base/fixed_vector.h"
#include "openmrc/fabric/fabric.h"

// What a fabric takes and what it withstands, beside single-plane designs built from the same
// switch chips, which is how several planes are commonly judged.
namespace openmrc::fabric {

// Enough for single-plane trees of the smallest switches under the largest fabric.
inline constexpr std::size_t kTiersMax = 20;

// The share of what a host can send that goes with one element that fails.
struct LossShares {
  double nic_port = 0;
  double t0 = 0;            // for the hosts of its rack
  double uplink = 0;        // one T0-T1 link, for the hosts of its rack
  double uplink_of_t0 = 0;  // the same link, as a share of its T0's uplinks (of one plane)
  double t1 = 0;            // for all hosts, of its pod
  double t2 = 0;            // for all hosts, of what goes to other pods
};

struct Design {
  std::uint32_t planes = 1;
  std::uint64_t hosts = 0;
  double host_bits_per_second = 0;                   // over all planes
  FixedVector<std::uint64_t, kTiersMax> switches{};  // by tier, T0 first, over all planes
  std::uint64_t host_links = 0;                      // cables between NICs and T0s
  std::uint64_t switch_links = 0;                    // cables between switches
  // Counted in transceivers as fast as a whole NIC: several slower links share one. Every cable is
  // optical and ends in transceivers on both sides, also at the NIC.
  std::uint64_t transceivers = 0;
  std::uint32_t longest_path = 1;        // in switches
  std::uint32_t hosts_per_t0 = 0;        // reached through one switch
  double bisection_bits_per_second = 0;  // between two halves of the racks
  double oversubscription = 1;           // of a T0: what may come in over what goes up
  LossShares loss{};

  [[nodiscard]] std::uint64_t switches_total() const;
};

struct Plan {
  Design fabric{};
  double switch_bits_per_second = 0;  // of the chip: all ports of the larger of T0 and T1
  std::uint32_t radix = 0;            // its ports at the speed of a whole NIC
  // Single plane, full bisection: as large as three tiers get, and as many hosts as the fabric has
  // with as few tiers as that takes. Nothing if the chip has fewer than four such ports.
  std::optional<Design> three_tiers{};
  std::optional<Design> same_hosts{};
};

Plan plan_of(const Fabric& fabric);

}  // namespace openmrc::fabric
