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
std::vector<std::string> switch_lines(const Spec& spec, const fabric::SwitchId& id,
                                      const InterfaceTest& wanted, const InterfaceTest& is_up);
// Where a switch sends what it knows no way for: nowhere, without a word.
std::vector<std::string> blackholes(const fabric::SwitchId& id);

// sysctl settings: no IPv6 at all, routes as switches have them.
std::vector<std::string> host_settings();
std::vector<std::string> switch_settings();

}  // namespace openmrc::lab::ipv4
