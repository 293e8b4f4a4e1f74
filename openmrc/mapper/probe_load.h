// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/fabric/fabric.h"

// What probing a fabric takes, and how soon it finds something.
namespace openmrc::mapper {

// On the wire: preamble, Ethernet, two IPv6 headers, UDP, the probe, checksum, gap.
inline constexpr std::uint32_t kProbeWireBytes = 8 + 14 + 40 + 40 + 8 + 40 + 4 + 12;

// Packets per second, if every host sends so many rounds.
struct ProbeLoad {
  double per_port = 0;  // of a NIC, each way
  double per_nic = 0;
  double per_host_link = 0;  // each way
  double per_uplink = 0;     // each way
  double at_t0 = 0;          // forwarded
  double at_t1 = 0;
  double in_fabric = 0;  // sent by all hosts
};
ProbeLoad probe_load(const fabric::Fabric& fabric, double rounds_per_second);

// Losses that the judge of one host wants before it names a link, if nothing else loses any.
std::uint64_t losses_for_host_link(const fabric::Fabric& fabric);
std::uint64_t losses_for_uplink(const fabric::Fabric& fabric);
// Losses that the agents of a rack want together.
std::uint64_t losses_for_rack(const fabric::Fabric& fabric);

// Probes of a second that cross the link and are judged by one host, or sent by its whole rack.
double probes_of_host_link(double rounds_per_second);
double probes_of_uplink(const fabric::Fabric& fabric, double rounds_per_second);
double rack_probes_of_uplink(const fabric::Fabric& fabric, double rounds_per_second);

// Seconds after which so many losses have happened with a chance of 95 %.
double seconds_to_find(std::uint64_t losses, double loss, double probes_per_second);

}  // namespace openmrc::mapper
