// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/world/world.h"

// A world like that of the published measurements: eight planes of 100 Gb/s, 256 EVs, packets of
// 4 KiB, one queue pair.
namespace openmrc::test {

inline constexpr std::int64_t kNicPortRate = 100'000'000'000;
inline constexpr std::size_t kNicPlanes = 8;
inline constexpr std::uint32_t kNicMtu = 4096;

// One message of this size over a network of this round trip.
inline WorldOptions published_nic_world(Duration round_trip, std::uint32_t message) {
  WorldOptions options;
  options.seed = 7;
  options.planes = kNicPlanes;
  options.evs_per_plane = 32;
  options.min_active = 64;
  options.delay = round_trip / 2 - nanoseconds(330);  // and a packet takes 330 ns to leave
  options.port_bits_per_second = kNicPortRate;
  options.congestion = core::nscc_defaults({.mtu = ByteCount(kNicMtu + 88),
                                            .base_rtt = round_trip,
                                            .link_bits_per_second = kNicPortRate * kNicPlanes,
                                            .trimming = true});
  options.recv.mtu = kNicMtu;
  options.recv.mpr_dest = 16;
  options.send.mpr = 16;
  options.writes = {{.length = message}};
  return options;
}

}  // namespace openmrc::test
