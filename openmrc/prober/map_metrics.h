// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "openmrc/host/metrics.h"
#include "openmrc/mapper/report.h"

namespace openmrc::prober {

// Links with series of their own: the worst of those that lose packets, and of those that are slow.
// Fabrics have thousands of them, and a host that is wrong may call all bad; `openmrc_bad_links`
// and `openmrc_slow_links` count them in any case.
inline constexpr std::size_t kBadLinksShown = 32;

// What an agent's mapper tells monitoring: sums by plane, and its verdicts.
// docs/guide/operate.md has every name.
std::vector<host::Sample> samples_of(const mapper::MapReport& report);

}  // namespace openmrc::prober
