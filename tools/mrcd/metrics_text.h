// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

#include "openmrc/host/metrics.h"

namespace openmrc::tools {

#ifdef OPENMRC_PROMETHEUS
inline constexpr bool kHasMetricsText = true;
#else
inline constexpr bool kHasMetricsText = false;
#endif

// The text format of Prometheus, by prometheus-cpp. Nothing if mrcd was built without.
std::string metrics_text(std::span<const host::Sample> samples);

}  // namespace openmrc::tools
