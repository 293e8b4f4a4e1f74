// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "openmrc/core/containers/growing_ring.h"
#include "openmrc/sim/engine/application.h"
#include "openmrc/sim/engine/connections.h"
#include "openmrc/sim/engine/host.h"
#include "openmrc/sim/engine/host_bus.h"
#include "openmrc/sim/engine/nic.h"
#include "openmrc/sim/rc/ecmp.h"
#include "openmrc/sim/rc/rc_receiver.h"
#include "openmrc/sim/rc/rc_sender.h"

namespace openmrc::sim {

// What all hosts with RoCEv2 share.
struct RcWorld {
  const Network& network;
  const Connections& connections;
  const RcTransport& transport;
  Ecmp ecmp;
  RcSender::Settings sender;
  bool switches_choose = false;  // the uplinks of data
};
RcWorld make_rc_world(const Network& network, const Connections& connections,
                      const RcTransport& transport);

// A host with RoCEv2 reliable connections. Each queue pair has one path; at a port the queue pairs
// that their rate allows take turns, after acknowledgements.
class RcHost : public Host {
 public:
  RcHost(const RcWorld& world, fabric::HostIndex host, std::unique_ptr<Program> program);

  void run(const Window& window, std::span<const Packet> arrivals, Worker& worker) override;
  [[nodiscard]] Picoseconds wake_at() const override { return wake_at_; }
  [[nodiscard]] bool done() const override { return application_.done(); }
  [[nodiscard]] Picoseconds done_at() const override { return application_.done_at(); }
  void finish(Worker& worker) override { application_.finish(worker); }
  void count_links() override { nic_.count_links(); }
  void sample(SeriesRecorder& series) override { nic_.sample_links(series); }

 private:
  using Index = std::uint32_t;  // of a queue pair, among the sending or the receiving ones

  struct Sending {
    RcSender sender;
    EcmpPath path;
    bool in_turn = false;  // in `waiting_` or the turn of its port
    bool watched = false;  // in `deadlines_`
  };
  struct Receiving {
    RcReceiver receiver;
    EcmpPath path;  // of what it sends back
    Qpn other{};
  };
  // Waits for the port of its plane.
  struct Answer {
    Packet packet{};
    std::uint16_t path = 0;
  };
  struct Port {
    core::GrowingRing<Answer> answers;
    core::GrowingRing<Index> turn;  // sending queue pairs whose time has come
  };
  // The first is at the top.
  using Times = std::priority_queue<std::pair<Picoseconds, Index>,
                                    std::vector<std::pair<Picoseconds, Index>>, std::greater<>>;

  [[nodiscard]] Qpn qpn_of(std::uint32_t number, std::uint32_t queue_pair) const;
  void connect_sending(std::uint32_t number, const Connections::End& end, std::uint32_t queue_pair);
  void connect_receiving(std::uint32_t number, const Connections::End& end,
                         std::uint32_t queue_pair);

  void receive(const Packet& packet, Worker& worker);
  void receive_data(const Packet& packet, Worker& worker);
  void receive_answer(const Packet& packet, Worker& worker);
  void receive_selective(const Packet& packet, Worker& worker);
  void deliver(Index index, MessageTag tag, Worker& worker);
  void answer(Receiving& receiving, PacketKind kind, Worker& worker);
  void answer_selectively(Receiving& receiving, Psn arrived, Worker& worker);
  void queue_answer(Receiving& receiving, Packet packet, const wire::Body& body, Worker& worker);
  void handle_timeouts(Worker& worker);
  void take_done(Index index, Worker& worker);

  void follow_up(const Window& window, Worker& worker);
  void take_turn(Index index);
  void watch(Index index);
  void transmit(Port& port, const Window& window, Worker& worker);
  void send_data(Sending& sending, const Window& window, Worker& worker);
  [[nodiscard]] Picoseconds next_time() const;

  const RcWorld& world_;
  Nic nic_;
  HostBus application_;
  std::vector<Sending> sending_;
  std::vector<Receiving> receiving_;
  std::vector<Port> ports_;  // by plane
  Times waiting_;            // sending queue pairs, until their rate lets them send
  Times deadlines_;          // of sending queue pairs: not later than the timeouts
  Picoseconds now_{};
  Picoseconds wake_at_{};
};

}  // namespace openmrc::sim
