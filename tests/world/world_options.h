// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "openmrc/base/time.h"
#include "openmrc/core/congestion/congestion.h"
#include "openmrc/core/context/settings.h"
#include "tests/world/faults.h"

namespace openmrc::test {

// A write that the application of `side` will post.
struct PlannedWrite {
  Side side = Side::kA;
  std::size_t queue_pair = 0;  // which of the connections
  Duration at{};               // when
  std::uint32_t length = 1;
  bool immediate = false;
};

// Everything about a world of two hosts: its shape, its traffic, and every fault. A run is a
// function of this.
struct WorldOptions {
  std::uint64_t seed = 0;  // of all that is random during the run

  // The network.
  std::size_t planes = 1;
  std::size_t evs_per_plane = 4;
  std::size_t active_per_plane = 0;  // 0: all
  std::size_t min_active = 1;
  bool srv6 = false;
  Duration delay = microseconds(5);       // one way
  Duration jitter{};                      // and up to this much more, by packet
  std::int64_t port_bits_per_second = 0;  // 0: packets take no time to leave

  // The hosts.
  std::size_t queue_pairs = 1;
  core::CongestionSettings congestion = core::FixedWindowSettings{};
  core::SackSettings sack{};
  core::ReadyToRecvAttributes recv{};  // addresses, numbers and PSNs are filled in
  core::ReadyToSendAttributes send{};
  bool starts_near_wrap = false;  // PSNs start shortly before 2^24
  std::uint8_t ev_burst = 1;
  Duration reorder_floor{};

  std::vector<PlannedWrite> writes;
  std::vector<Fault> faults;
};

// A world of random shape, traffic and faults.
WorldOptions random_world(std::uint64_t seed);
// The same, and somebody is on the path.
WorldOptions attacked_world(std::uint64_t seed);

// For people; several lines.
std::string describe(const WorldOptions& options);

}  // namespace openmrc::test
