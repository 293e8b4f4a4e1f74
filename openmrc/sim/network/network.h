// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "openmrc/base/picoseconds.h"
#include "openmrc/base/rng.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/network/link_faults.h"
#include "openmrc/sim/network/packet.h"
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

// What a packet takes from the moment it begins to leave a port until the next device can decide
// what to do with it.
struct Hop {
  Line line{};
  Picoseconds delay{};           // of the wire and of the devices at its ends
  std::uint32_t lead_bytes = 0;  // so many must have arrived; a shorter packet wholly

  [[nodiscard]] Picoseconds arrival(Picoseconds start, std::uint32_t size) const {
    return start + line.serialisation(std::min(size, lead_bytes)) + delay;
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

  [[nodiscard]] NodeIndex nodes() const { return t2(Plane(0), fabric_.t2s()); }
  [[nodiscard]] static NodeIndex host_rack(std::uint32_t rack) { return rack; }
  [[nodiscard]] NodeIndex t0(Plane plane, std::uint32_t rack) const {
    return racks() + rack * planes() + plane.raw();
  }
  [[nodiscard]] NodeIndex t1(Plane plane, std::uint32_t number) const {
    return racks() + (racks() + number) * planes() + plane.raw();
  }
  [[nodiscard]] NodeIndex t2(Plane plane, std::uint32_t number) const {
    return t1(plane, fabric_.t1s() + number);
  }
  [[nodiscard]] bool is_host_rack(NodeIndex node) const { return node < racks(); }
  // Of a node that is no host rack.
  [[nodiscard]] fabric::SwitchId switch_of(NodeIndex node) const;

  // The port of a T0 by which a path goes up; behind its last for any.
  [[nodiscard]] std::uint32_t t0_port_up(std::uint16_t path) const {
    return hosts_per_rack() + (path == kAnyPath ? uplinks() : fabric_.uplink_of(path));
  }
  // The same of a T1.
  [[nodiscard]] std::uint32_t t1_port_up(std::uint16_t path) const {
    const std::uint32_t uplink =
        path == kAnyPath ? fabric_.shape().t1_uplinks : fabric_.t1_uplink_of(path);
    return fabric_.t1_downlinks() + uplink;
  }

  // Host links and links between switches: speed and wire.
  [[nodiscard]] const Line& host_line() const { return host_line_; }
  [[nodiscard]] const Line& uplink_line() const { return uplink_line_; }
  // From a port of a switch, and from a NIC to another host of its rack or to an uplink.
  [[nodiscard]] const Hop& hop(PortKind from) const {
    return hops_[static_cast<std::size_t>(from)];
  }
  [[nodiscard]] const Hop& nic_hop(bool own_rack) const { return nic_hops_[own_rack ? 1 : 0]; }
  [[nodiscard]] const softswitch::QueuePolicy& policy(PortKind kind) const {
    return policies_[static_cast<std::size_t>(kind)];
  }

  // Windows of time: what a node sends in one arrives in a later one, so that within a window all
  // nodes can be run in any order, or at once. As long as the shortest wire with its devices.
  [[nodiscard]] Picoseconds window() const { return window_; }
  // How many windows ahead a packet can arrive, at most.
  [[nodiscard]] std::uint32_t windows_ahead_max() const { return windows_ahead_max_; }

  // Of a full packet over the longest path and its acknowledgement, with no queues.
  [[nodiscard]] Duration base_rtt() const { return base_rtt_; }
  [[nodiscard]] std::uint32_t bdp_bytes() const { return bdp_bytes_; }
  // PFC: what may wait in a switch of one sender's packets; at half of it the sender may go on.
  [[nodiscard]] std::uint32_t pause_bytes(bool from_host) const {
    return bdp_of(from_host ? host_line_ : uplink_line_);
  }
  // What may still come by a link after its sender was found to be paused.
  [[nodiscard]] std::uint32_t headroom_bytes(bool from_host) const;

  // An evenly spread number that belongs to the n-th packet at a port, whoever asks and when.
  [[nodiscard]] std::uint32_t random(NodeIndex node, std::uint32_t port, std::uint64_t n) const {
    std::uint64_t state = seed_ ^ (std::uint64_t{node} << 44) ^ (std::uint64_t{port} << 32) ^ n;
    return static_cast<std::uint32_t>(split_mix(state) >> 32);
  }

 private:
  [[nodiscard]] std::uint32_t bdp_of(const Line& line) const;
  [[nodiscard]] softswitch::QueuePolicy make_policy(PortKind kind) const;
  void set_hops();
  [[nodiscard]] Picoseconds one_way(std::uint32_t size) const;
  void set_windows(std::uint32_t full_size);

  const Scenario& scenario_;
  fabric::Fabric fabric_;
  LinkFaults faults_;
  std::uint64_t seed_;
  Line host_line_;
  Line uplink_line_;
  std::array<Hop, kPortKinds> hops_{};
  std::array<Hop, 2> nic_hops_{};
  std::array<softswitch::QueuePolicy, kPortKinds> policies_{};
  Picoseconds window_{};
  std::uint32_t windows_ahead_max_ = 0;
  Duration base_rtt_{};
  std::uint32_t bdp_bytes_ = 0;
};

}  // namespace openmrc::sim
