// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/core/context/counters.h"
#include "openmrc/core/peer/peer.h"
#include "openmrc/sim/series/series.h"

namespace openmrc::sim {

// What a series says of one connection, and of all retransmits of a host.
TransportSample sample_window(const core::Peer& peer);
ConnectionSample sample_connection(const core::Peer& peer);
std::uint64_t count_retransmits(const core::Counters& counters);

}  // namespace openmrc::sim
