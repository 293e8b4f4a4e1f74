// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "openmrc/lab/layout.h"
#include "openmrc/lab/plan.h"
#include "openmrc/lab/spec.h"

// What plan.h writes, for a lab of IPv4 alone: ordinary routes, and hashing over uplinks. As lines
// of `ip -4 -batch`.
namespace openmrc::lab::ipv4 {

void add_host_port(const Spec& spec, fabric::HostIndex host, Plane plane,
                   std::vector<std::string>& lines);
void add_t0_downlink(const Spec& spec, const fabric::SwitchId& t0, std::uint32_t downlink,
                     std::vector<std::string>& lines);
void add_t0_uplink(const Spec& spec, const fabric::SwitchId& t0, std::uint32_t uplink,
                   std::vector<std::string>& lines);
void add_t0_way_up(const Spec& spec, const fabric::SwitchId& t0, const InterfaceTest& is_up,
                   std::vector<std::string>& lines);
void add_t1_downlink(const Spec& spec, const fabric::SwitchId& t1, std::uint32_t rack,
                     std::vector<std::string>& lines);
// Where a switch sends what it knows no way for: nowhere, without a word.
std::vector<std::string> blackholes(const fabric::SwitchId& id);

// sysctl settings: no IPv6 at all, routes as switches have them.
std::vector<std::string> host_settings();
std::vector<std::string> switch_settings();

}  // namespace openmrc::lab::ipv4
