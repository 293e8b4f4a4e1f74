// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/fabric/usid_plan.h"
#include "openmrc/profile/transport_profile.h"
#include "openmrc/sim/engine/application.h"
#include "openmrc/sim/engine/connections.h"
#include "openmrc/sim/engine/host.h"
#include "openmrc/sim/engine/host_bus.h"
#include "openmrc/sim/engine/nic.h"
#include "openmrc/sim/mrc/ev_sets.h"

namespace openmrc::sim {

// A NIC's link as the NIC sees it.
struct PortEvent {
  Picoseconds at{};
  Plane plane{};
  bool up = false;
};

// What all hosts with MRC share.
struct MrcWorld {
  const Network& network;
  const Connections& connections;
  const fabric::UsidPlan& plan;
  const EvSets& ev_sets;
  std::uint32_t queue_pairs = 1;  // of each connection
  bool hints = false;             // senders know how many send to the same host
  const profile::TransportProfile& profile;
  core::CongestionSettings congestion;
  std::uint64_t seed = 0;
};

// A host with MRC: core::Endpoint as it runs everywhere else.
class MrcHost : public Host {
 public:
  // `port_events` are in order of time.
  MrcHost(const MrcWorld& world, fabric::HostIndex host, std::unique_ptr<Program> program,
          std::vector<PortEvent> port_events);

  void run(const Window& window, std::span<const Packet> arrivals, Worker& worker) override;
  [[nodiscard]] Picoseconds wake_at() const override { return wake_at_; }
  [[nodiscard]] bool done() const override { return application_.done(); }
  [[nodiscard]] Picoseconds done_at() const override { return application_.done_at(); }
  void finish(Worker& worker) override;
  void count_links() override { nic_.count_links(); }
  void sample(SeriesRecorder& series) override;

 private:
  void connect(std::uint32_t number, const Connections::End& end, std::uint32_t queue_pair);
  [[nodiscard]] Qpn qpn_of(std::uint32_t number, std::uint32_t queue_pair) const;
  void receive(const Packet& packet, Worker& worker);
  void change_port(const PortEvent& event);
  // Packets that leave at the same time, at most one from each port.
  using Burst = std::array<core::Transmit, fabric::kPlanesMax>;
  void follow_up(const Window& window, Burst& burst, Worker& worker);
  void take_completions(Worker& worker);
  void take_events(Worker& worker);
  [[nodiscard]] bool post(Application::Posting& posting);
  void transmit(const Window& window, Burst& burst, Worker& worker);
  void send(const core::Transmit& transmit, const Window& window, Worker& worker);
  [[nodiscard]] Picoseconds next_time() const;

  const MrcWorld& world_;
  Nic nic_;
  HostBus application_;
  core::Endpoint endpoint_;
  const profile::DrawnPaths& paths_;
  core::ProtectionDomain domain_{};
  RKey rkey_{};
  std::vector<PortEvent> port_events_;
  std::size_t port_events_done_ = 0;
  std::uint32_t sends_ = 0;  // outgoing connections; incoming ones are numbered from here on
  Picoseconds now_{};
  Picoseconds wake_at_{};
};

}  // namespace openmrc::sim
