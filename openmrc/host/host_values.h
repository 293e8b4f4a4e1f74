// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "openmrc/base/ids.h"
#include "openmrc/core/context/counters.h"
#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/core/paths/ev_state.h"
#include "openmrc/datapath/counters.h"
#include "openmrc/wire/field/reject.h"

// All that a process counts, as one array of numbers: counters, which only grow, and behind them
// gauges, which are as of now. There is none for each queue pair, peer or EV: the size is fixed,
// whatever a process does.
namespace openmrc::host {

// Counters of a plane.
enum class PlaneValue : std::uint8_t {
  kDataSent,      // request packets
  kDataReceived,  // the same, accepted for the first time
  kLost,          // request packets declared lost
  kTrimmed,       // request packets that a switch trimmed
  kSentPackets,   // of any kind, as datapath::PlaneCount has them
  kSentBytes,
  kReceivedPackets,
  kReceivedBytes,
  kFailedPackets,
};
inline constexpr std::size_t kPlaneValues = 9;

// Gauges of a process; with them, for each plane, the EVs of all peers by their state, and whether
// its port is down.
enum class Gauge : std::uint8_t { kQueuePairs, kPeers };
inline constexpr std::size_t kGauges = 2;
inline constexpr std::size_t kPlaneGauges = core::kEvStateCount + 1;

class HostValues {
 public:
  static constexpr std::size_t kCore = core::kCounterTable.size();
  static constexpr std::size_t kDatapath = datapath::kCounterTable.size();
  static constexpr std::size_t kRejects = wire::kRejectTable.size();
  static constexpr std::size_t kFirstPlaneValue = kCore + kDatapath + kRejects;
  // What is before it are counters.
  static constexpr std::size_t kFirstGauge = kFirstPlaneValue + core::kPlanesMax * kPlaneValues;
  static constexpr std::size_t kFirstPlaneGauge = kFirstGauge + kGauges;
  static constexpr std::size_t kSize = kFirstPlaneGauge + core::kPlanesMax * kPlaneGauges;

  static constexpr std::size_t place(core::Count count) { return static_cast<std::size_t>(count); }
  static constexpr std::size_t place(datapath::Count count) {
    return kCore + static_cast<std::size_t>(count);
  }
  static constexpr std::size_t place(wire::Reject reason) {
    return kCore + kDatapath + static_cast<std::size_t>(reason);
  }
  static constexpr std::size_t place(PlaneValue value, std::size_t plane) {
    return kFirstPlaneValue + plane * kPlaneValues + static_cast<std::size_t>(value);
  }
  static constexpr std::size_t place(Gauge gauge) {
    return kFirstGauge + static_cast<std::size_t>(gauge);
  }
  static constexpr std::size_t place(core::EvState state, std::size_t plane) {
    return kFirstPlaneGauge + plane * kPlaneGauges + static_cast<std::size_t>(state);
  }
  static constexpr std::size_t place_of_port_down(std::size_t plane) {
    return kFirstPlaneGauge + plane * kPlaneGauges + core::kEvStateCount;
  }

  [[nodiscard]] std::uint64_t at(std::size_t place) const { return values_[place]; }
  std::uint64_t& at(std::size_t place) { return values_[place]; }

  void copy_gauges(const HostValues& from) {
    for (std::size_t i = kFirstGauge; i < kSize; ++i) values_[i] = from.values_[i];
  }
  // To sum up several endpoints and data paths.
  void add(const core::Counters& counters);
  void add(const datapath::Counters& counters);

 private:
  std::array<std::uint64_t, kSize> values_{};
};

// Of all names behind the numbers, in their order: who has the same has the same array.
std::uint64_t values_layout();

}  // namespace openmrc::host
