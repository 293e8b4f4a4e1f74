// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "openmrc/fabric/fabric.h"
#include "openmrc/fabric/parts.h"
#include "openmrc/fabric/plan.h"
#include "openmrc/fabric/usid_plan.h"

// What `mrc fabric` prints, as text.
namespace openmrc::tools {

// "8 planes, 512 T0 and 256 T1 in each; 131,072 hosts, 800 Gb/s per host"
std::string one_line(const fabric::Fabric& fabric);

// The plan as a table for people, and for programs.
std::string plan_table(const fabric::Fabric& fabric, const fabric::Plan& plan);
nlohmann::ordered_json plan_json(const fabric::Fabric& fabric, const fabric::Plan& plan);

// Power, cost and cables of the plan, below its table; and for programs.
std::string bill_table(const fabric::Fabric& fabric, const fabric::Plan& plan,
                       const fabric::Parts& parts);
nlohmann::ordered_json bill_json(const fabric::Fabric& fabric, const fabric::Plan& plan,
                                 const fabric::Parts& parts);

// Every cable as a line of CSV: where its ends are, how fast and how long it is, and which part.
void write_cables(const fabric::Fabric& fabric, const fabric::Parts& parts, std::ostream& out);

// A path hop by hop: what each switch finds in the outer destination and what it leaves of it.
std::string path_table(const fabric::UsidPlan& plan, fabric::HostIndex source,
                       fabric::HostIndex destination, fabric::PathChoice choice);

}  // namespace openmrc::tools
