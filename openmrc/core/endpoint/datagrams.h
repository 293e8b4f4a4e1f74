// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/core/context/work.h"
#include "openmrc/core/endpoint/connections.h"
#include "openmrc/core/endpoint/datagram_queue.h"
#include "openmrc/core/endpoint/endpoint_state.h"
#include "openmrc/core/endpoint/transmit.h"

namespace openmrc::core {

// Unreliable datagrams (docs/protocol/datagrams.md): beyond MRC, for programs that need them to set
// up their connections. They are sent once and forgotten; there is no window but the queue.
class Datagrams {
 public:
  explicit Datagrams(EndpointState& state) : state_(state) {}

  [[nodiscard]] Result<Qpn, CreateError> create(DatagramHandler& handler,
                                                const DatagramAttributes& attributes);
  // Forgets what the queue pair wants to send, before it is destroyed.
  void leave(Qpn qpn);
  bool set_qkey(Qpn qpn, wire::QKey qkey);
  [[nodiscard]] Result<void, PostError> post(Qpn qpn, const DatagramRequest& request);

  void receive(Plane plane, const wire::Packet& packet, const wire::UdSend& datagram);

  // Those to one host that follow each other within this time stay on a path (UD-12). More than
  // paths differ in delay, and less than programs wait before they send something again.
  static constexpr Duration kFlowletGap = milliseconds(5);

  // The next one, of the queue pairs in turn. If no port is free for it, it stays.
  [[nodiscard]] ControlSent send(Instant now, PlaneMask ports, Transmit& out);

  [[nodiscard]] bool empty() const { return waiting_ == 0; }
  [[nodiscard]] std::size_t size() const { return waiting_; }

 private:
  struct Path {
    Plane plane;
    EvIndex ev;
  };
  // What was sent last to a host. Hosts may share one: they then change paths more often.
  struct Flowlet {
    wire::Ipv6Address to{};
    EvProfileId ev_profile{};
    Instant last{};
    std::optional<Path> path{};
  };
  static constexpr std::size_t kFlowlets = 256;
  [[nodiscard]] DatagramQueue* find(Qpn qpn) const;
  [[nodiscard]] bool is_reachable(const DatagramRequest& request) const;
  [[nodiscard]] DatagramQueue& next_in_turn();
  [[nodiscard]] Peer* peer_of(const DatagramQueue::Waiting& datagram);
  [[nodiscard]] Flowlet& flowlet_to(const wire::Ipv6Address& address);
  // Whether the next datagram may still take its path.
  [[nodiscard]] bool goes_on(const Flowlet& flowlet, const DatagramQueue::Waiting& datagram,
                             Instant now);
  [[nodiscard]] Path choose(const DatagramQueue::Waiting& datagram, PlaneMask ports);
  [[nodiscard]] std::optional<EvIndex> allowed_ev(EvProfileId profile, Plane plane);
  void fill(DatagramQueue& queue, const Path& path, Transmit& out);

  EndpointState& state_;
  std::vector<std::unique_ptr<DatagramQueue>> all_;
  std::size_t waiting_ = 0;  // datagrams, of all of them
  std::size_t turn_ = 0;     // in all_
  std::uint8_t next_plane_ = 0;
  std::array<std::uint32_t, kPlanesMax> next_ev_{};  // by plane
  std::vector<Flowlet> flowlets_{};  // by a hash of the host; none without a queue pair
};

}  // namespace openmrc::core
