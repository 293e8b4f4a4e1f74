// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "openmrc/base/picoseconds.h"
#include "openmrc/base/rng.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/network/link_faults.h"
#include "openmrc/sim/result/result.h"
#include "openmrc/sim/scenario/scenario.h"
#include "openmrc/softswitch/queue_policy.h"

namespace openmrc::sim {

// A node is the unit of work: one switch with all its ports, or all hosts of one rack.
using NodeIndex = std::uint32_t;

// A port's line: how long a byte takes to leave, and the wire behind it.
struct Line {
  std::int64_t picoseconds_per_byte = 0;
  Picoseconds delay{};

  [[nodiscard]] Picoseconds serialisation(std::uint32_t bytes) const {
    return Picoseconds(bytes * picoseconds_per_byte);
  }
};

// All that does not change during a run, shared by all workers: nodes and ports by arithmetic.
class Network {
 public:
  explicit Network(const Scenario& scenario);

  [[nodiscard]] const fabric::Fabric& fabric() const { return fabric_; }
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] const LinkFaults& faults() const { return faults_; }
  [[nodiscard]] std::uint32_t racks() const { return fabric_.shape().racks; }
  [[nodiscard]] std::uint32_t planes() const { return fabric_.shape().planes; }
  [[nodiscard]] std::uint32_t hosts_per_rack() const { return fabric_.shape().hosts_per_rack; }
  [[nodiscard]] std::uint32_t uplinks() const { return fabric_.shape().uplinks; }

  [[nodiscard]] NodeIndex nodes() const { return racks() + (racks() + uplinks()) * planes(); }
  [[nodiscard]] static NodeIndex host_rack(std::uint32_t rack) { return rack; }
  [[nodiscard]] NodeIndex t0(Plane plane, std::uint32_t rack) const {
    return racks() + rack * planes() + plane.raw();
  }
  [[nodiscard]] NodeIndex t1(Plane plane, std::uint32_t number) const {
    return racks() + (racks() + number) * planes() + plane.raw();
  }
  [[nodiscard]] bool is_host_rack(NodeIndex node) const { return node < racks(); }
  // Of a node that is no host rack.
  [[nodiscard]] fabric::SwitchId switch_of(NodeIndex node) const;

  // Host links and links between switches.
  [[nodiscard]] const Line& host_line() const { return host_line_; }
  [[nodiscard]] const Line& uplink_line() const { return uplink_line_; }
  [[nodiscard]] const softswitch::QueuePolicy& policy(PortKind kind) const {
    return policies_[static_cast<std::size_t>(kind)];
  }

  // Windows of time: what a node sends in one arrives in a later one, so that within a window all
  // nodes can be run in any order, or at once. As long as the shortest wire.
  [[nodiscard]] Picoseconds window() const { return window_; }
  // How many windows ahead a packet can arrive, at most.
  [[nodiscard]] std::uint32_t windows_ahead_max() const { return windows_ahead_max_; }

  // Of a full packet over the longest path and its acknowledgement, with no queues.
  [[nodiscard]] Duration base_rtt() const { return base_rtt_; }
  [[nodiscard]] std::uint32_t bdp_bytes() const { return bdp_bytes_; }
  // PFC: what may wait in a switch of one sender's packets; at half of it the sender may go on.
  [[nodiscard]] std::uint32_t pause_bytes() const { return bdp_bytes_; }

  // An evenly spread number that belongs to the n-th packet at a port, whoever asks and when.
  [[nodiscard]] std::uint32_t random(NodeIndex node, std::uint32_t port, std::uint64_t n) const {
    std::uint64_t state = seed_ ^ (std::uint64_t{node} << 44) ^ (std::uint64_t{port} << 32) ^ n;
    return static_cast<std::uint32_t>(split_mix(state) >> 32);
  }

 private:
  const Scenario& scenario_;
  fabric::Fabric fabric_;
  LinkFaults faults_;
  std::uint64_t seed_;
  Line host_line_;
  Line uplink_line_;
  std::array<softswitch::QueuePolicy, kPortKinds> policies_{};
  Picoseconds window_{};
  std::uint32_t windows_ahead_max_ = 0;
  Duration base_rtt_{};
  std::uint32_t bdp_bytes_ = 0;
};

}  // namespace openmrc::sim
