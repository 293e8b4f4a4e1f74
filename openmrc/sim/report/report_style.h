// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace openmrc::sim {

// How the page of a report looks, in light and in dark, on paper too; with chart_css() before it.
std::string report_css();

}  // namespace openmrc::sim
