// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/engine/nic.h"

#include <algorithm>

namespace openmrc::sim {

Nic::Nic(const Network& network, fabric::HostIndex host)
    : network_(network),
      host_(host),
      planes_(network.planes()),
      rack_(network.fabric().rack_of(host)),
      downlink_(network.fabric().downlink_of(host)),
      ports_(std::make_unique<Port[]>(planes_)) {
  for (std::uint32_t plane = 0; plane < planes_; ++plane) {
    ports_[plane].fault = network.faults().find(link_of(plane), true);
  }
}

fabric::LinkId Nic::link_of(std::uint32_t plane) const {
  return {.kind = fabric::LinkId::Kind::kHost,
          .plane = Plane(static_cast<std::uint8_t>(plane)),
          .rack = rack_,
          .port = downlink_};
}

void Nic::sample_links(SeriesRecorder& series) {
  for (std::uint32_t plane = 0; counts_.on() && plane < planes_; ++plane) {
    series.add_link({.link = link_of(plane), .upward = true}, counts_.take(plane, 0));
  }
}

Picoseconds Nic::next_free(Picoseconds now) const {
  Picoseconds next = kNoTime;
  for (std::uint32_t plane = 0; plane < planes_; ++plane) {
    if (ports_[plane].free_at > now) next = std::min(next, ports_[plane].free_at);
  }
  return next;
}

void Nic::pause(Plane plane, bool paused, Picoseconds now) {
  Port& port = ports_[plane.raw()];
  const bool was_paused = port.free_at == kNoTime;
  if (paused == was_paused) return;
  if (paused) {
    port.paused_until_free = port.free_at;
    port.free_at = kNoTime;
  } else {
    port.free_at = std::max(port.paused_until_free, now);
  }
}

void Nic::send(const Packet& packet, std::uint16_t path, Picoseconds now, const Window& window,
               Worker& worker) {
  Port& port = ports_[packet.plane.raw()];
  OPENMRC_DCHECK(port.free_at <= now, "the port is free");
  const fabric::Fabric& fabric = network_.fabric();
  const bool own_rack = fabric.rack_of(packet.to) == rack_;
  const Hop& hop = network_.nic_hop(own_rack);
  Picoseconds leaving = hop.line.serialisation(packet.size);
  if (port.fault != LinkFaults::kNone) [[unlikely]] {
    leaving = leaving * 100 / network_.faults().state(port.fault, now).speed_percent;
  }
  port.free_at = now + leaving;

  Totals& totals = worker.stats.totals;
  ++totals.nic_hops;
  ++(packet.is_data ? totals.data_packets_sent : totals.control_packets_sent);
  totals.payload_bytes_sent += payload_size(*packet.content);
  counts_.sent(packet.plane.raw(), packet.size, false);
  Picoseconds arrival = hop.arrival(now, packet.size);
  if (port.fault != LinkFaults::kNone) [[unlikely]] {
    // Bytes that come slowly do not pass through: the whole packet has to be there.
    if (leaving != hop.line.serialisation(packet.size)) arrival = port.free_at + hop.delay;
    if (!survives(port, packet, now, port.free_at + hop.line.delay, worker)) {
      return counts_.lost(packet.plane.raw());
    }
  }
  packet.content->path = path;
  const std::uint32_t egress = own_rack ? fabric.downlink_of(packet.to) : network_.t0_port_up(path);
  const NextHop next{.node = network_.t0(packet.plane, rack_),
                     .egress = static_cast<std::uint16_t>(egress),
                     .ingress = static_cast<std::uint16_t>(downlink_)};
  worker.post(packet, next, arrival, window);
}

bool Nic::survives(Port& port, const Packet& packet, Picoseconds now, Picoseconds arrival,
                   Worker& worker) const {
  if (!network_.faults().stays_up(port.fault, now, arrival)) {
    worker.lose(packet, Loss::kLinkDown, now);
    return false;
  }
  const LinkState& state = network_.faults().state(port.fault, now);
  const std::uint32_t rate = state.loss_per_billion;
  if (rate == 0 && packet.size <= state.mtu) return true;
  const std::uint32_t number = downlink_ * planes_ + packet.plane.raw();
  const std::uint64_t drawn = network_.random(Network::host_rack(rack_), number, port.drawn++);
  if (packet.size <= state.mtu && drawn * 1'000'000'000 >> 32 >= rate) return true;
  worker.lose(packet, Loss::kLinkError, now);
  return false;
}

}  // namespace openmrc::sim
