// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/mrc/mrc_sample.h"

#include <algorithm>

namespace openmrc::sim {

TransportSample sample_window(const core::Peer& peer) {
  const auto window = static_cast<std::uint64_t>(peer.congestion.window().raw());
  const auto rtt = static_cast<std::uint64_t>(peer.congestion.rtt().raw());
  return {.connections = 1,
          .window_bytes = window,
          .window_min_bytes = window,
          .window_max_bytes = window,
          .in_flight_bytes =
              static_cast<std::uint64_t>(std::max<std::int64_t>(peer.in_flight.raw(), 0)),
          .rtt_ns = rtt,
          .rtt_max_ns = rtt};
}

ConnectionSample sample_connection(const core::Peer& peer) {
  ConnectionSample sample{.transport = sample_window(peer)};
  const std::size_t evs = peer.paths.profile().size();
  for (std::size_t i = 0; i < evs; ++i) {
    ++sample.evs[static_cast<std::size_t>(
        peer.paths.state(core::EvIndex(static_cast<std::uint8_t>(i))))];
  }
  return sample;
}

std::uint64_t count_retransmits(const core::Counters& counters) {
  using core::Count;
  std::uint64_t sum = 0;
  for (const Count reason :
       {Count::kRetransmitsLoss, Count::kRetransmitsProbe, Count::kRetransmitsTimeout,
        Count::kRetransmitsTrim, Count::kRetransmitsTrimLastHop, Count::kRetransmitsRefused,
        Count::kRetransmitsForAck}) {
    sum += counters.of(reason);
  }
  return sum;
}

}  // namespace openmrc::sim
