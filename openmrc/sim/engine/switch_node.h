// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "openmrc/sim/engine/switch_buffer.h"
#include "openmrc/sim/engine/uplink_balancer.h"
#include "openmrc/sim/engine/worker.h"
#include "openmrc/sim/network/network.h"
#include "openmrc/sim/series/link_counts.h"
#include "openmrc/sim/series/series_recorder.h"
#include "openmrc/softswitch/queue_policy.h"

namespace openmrc::sim {

// One switch: its ports with their queues. Decides as softswitch::Switch does, with the same
// functions, on records instead of bytes.
class SwitchNode {
 public:
  SwitchNode(const Network& network, NodeIndex node);

  // Takes what arrives in the window and sends what leaves in it.
  void run(const Window& window, const Arrivals& arrivals, Worker& worker);
  // Whether packets wait in its queues.
  [[nodiscard]] bool has_backlog() const { return queued_ > 0; }
  // At the end of a run: what waits is counted as on its way.
  void count_in_flight(Worker& worker) const;

  void count_links() { counts_.start(static_cast<std::uint32_t>(ports_.size())); }
  void sample_links(SeriesRecorder& series);

 private:
  using Slot = std::uint32_t;
  static constexpr Slot kNoSlot = 0xffffffff;

  struct Queue {
    Slot first = kNoSlot;
    Slot last = kNoSlot;
    std::uint32_t bytes = 0;
  };
  struct Port {
    Picoseconds free_at{};  // when its last packet has left
    Queue data;
    Queue control;
    LinkFaults::Index fault = LinkFaults::kNone;
    std::uint32_t drawn = 0;  // random numbers so far
    bool paused = false;      // PFC: data waits
    PortKind kind{};
    softswitch::FairShare share;
  };

  // Of a switch that chooses uplinks.
  void run_balanced(const Window& window, const Arrivals& arrivals, Worker& worker);
  void run_port(std::uint32_t index, std::span<const Packet> arrivals, const Window& window,
                Worker& worker);
  void serve(std::uint32_t index, Picoseconds until, const Window& window, Worker& worker);
  void arrive(std::uint32_t index, const Packet& packet, Picoseconds at, const Window& window,
              Worker& worker);
  void apply_pause(std::uint32_t index, const Packet& pause, Picoseconds at);
  void accept(std::uint32_t index, const Packet& packet, Picoseconds at, const Window& window,
              Worker& worker);
  void enqueue(Port& port, const Packet& packet);
  const Packet& dequeue(Port& port);
  [[nodiscard]] static bool can_send(const Port& port) {
    return port.control.bytes > 0 || (port.data.bytes > 0 && !port.paused);
  }
  void depart(std::uint32_t index, const Packet& packet, Picoseconds start, const Window& window,
              Worker& worker);
  [[nodiscard]] bool survives(std::uint32_t index, Picoseconds start, Picoseconds arrival,
                              const Packet& packet, Worker& worker);
  // PFC is decided at the end of each window, a wire's delay at most after the buffer has filled.
  void pause_senders(const Window& window, Worker& worker);
  // The port at the other end of a link to a switch.
  struct FarEnd {
    NodeIndex node = 0;
    std::uint32_t port = 0;
  };
  [[nodiscard]] FarEnd far_end(std::uint32_t index) const;
  // The port by which a packet leaves the switch behind one of the ports.
  [[nodiscard]] std::uint32_t next_egress(std::uint32_t index, const Packet& packet) const;
  [[nodiscard]] NextHop next_hop(std::uint32_t index, const Packet& packet) const;
  // Its thresholds follow its speed, and what is free of a shared buffer. Valid until the next
  // call.
  [[nodiscard]] const softswitch::QueuePolicy& policy_of(const Port& port, Picoseconds when) {
    if (port.fault == LinkFaults::kNone && !buffer_.is_shared()) [[likely]]
      return network_.policy(port.kind);
    return make_own_policy(port, when);
  }
  const softswitch::QueuePolicy& make_own_policy(const Port& port, Picoseconds when);
  // Of data that leaves.
  [[nodiscard]] bool is_marked(std::uint32_t index, Picoseconds when);
  [[nodiscard]] fabric::LinkId link_of(std::uint32_t index) const;
  [[nodiscard]] PortKind kind_of(std::uint32_t index) const {
    switch (own_.tier) {
      case fabric::Tier::kT0: return index < downlinks_ ? PortKind::kT0Down : PortKind::kT0Up;
      case fabric::Tier::kT1: return index < downlinks_ ? PortKind::kT1Down : PortKind::kT1Up;
      case fabric::Tier::kT2: break;
    }
    return PortKind::kT2Down;
  }

  const Network& network_;
  NodeIndex node_;
  fabric::SwitchId own_;
  std::uint32_t downlinks_;
  std::vector<Port> ports_;               // downlinks, then uplinks
  softswitch::QueuePolicy own_policy_{};  // of the port that was asked for last, if it has one
  std::vector<std::uint64_t> backlog_;    // a bit for each port with something in its queues
  std::uint64_t queued_ = 0;
  // What waits, and which one follows in its queue or in the list of free slots.
  std::vector<Packet> waiting_;
  std::vector<Slot> following_;
  Slot free_slot_ = kNoSlot;
  SwitchBuffer buffer_;
  LinkCounts counts_;
  std::unique_ptr<UplinkBalancer> balancer_;  // null: senders choose uplinks
};

}  // namespace openmrc::sim
