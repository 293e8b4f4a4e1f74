// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "tools/mrc/doctor/findings.h"

// What `mrc doctor` prints.
namespace openmrc::tools::doctor {

std::string_view name_of(Grade grade);

// A line for each finding, and how many there are of each grade.
std::string report_text(const Findings& findings, bool coloured);
std::string report_json(const Findings& findings);

}  // namespace openmrc::tools::doctor
