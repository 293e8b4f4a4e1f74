// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/engine/switch_node.h"

#include <algorithm>
#include <bit>
#include <variant>

#include "openmrc/sim/network/packet_size.h"

namespace openmrc::sim {
namespace {

using softswitch::QueueClass;

// What wire::trim_packet does to the bytes of a WRITE.
Packet trimmed(Packet packet, wire::TrimPlace place) {
  const auto write = std::get<wire::RdmaWrite>(packet.body);
  packet.body = wire::TrimmedWrite{.place = place,
                                   .destination_qp = write.destination_qp,
                                   .psn = write.psn,
                                   .ack_request = write.ack_request,
                                   .retransmission = write.retransmission,
                                   .kind = write.part.kind(),
                                   .meth = write.meth,
                                   .sent = write.sent};
  packet.size = kTrimmedSize;
  packet.is_data = false;
  packet.trimmable = false;
  return packet;
}

}  // namespace

SwitchNode::SwitchNode(const Network& network, NodeIndex node) : network_(network), node_(node) {
  const fabric::SwitchId id = network.switch_of(node);
  is_t0_ = id.tier == fabric::Tier::kT0;
  plane_ = id.plane;
  index_ = id.index;
  ports_.resize(is_t0_ ? network.hosts_per_rack() + network.uplinks() : network.racks());
  backlog_.resize((ports_.size() + 63) / 64);
  if (network.scenario().switches.pfc) ingresses_.resize(ports_.size());
  for (std::uint32_t i = 0; i < ports_.size(); ++i) {
    using Kind = fabric::LinkId::Kind;
    const PortKind kind = kind_of(i);
    const fabric::LinkId link{.kind = kind == PortKind::kT0Down ? Kind::kHost : Kind::kUplink,
                              .plane = plane_,
                              .rack = is_t0_ ? index_ : i,
                              .port = kind == PortKind::kT0Down ? i
                                      : kind == PortKind::kT0Up ? i - network.hosts_per_rack()
                                                                : index_};
    ports_[i].fault = network.faults().find(link, kind == PortKind::kT0Up);
  }
}

void SwitchNode::run(const Window& window, const Arrivals& arrivals, Worker& worker) {
  if (queued_ > 0) {
    for (std::size_t word = 0; word < backlog_.size(); ++word) {
      for (std::uint64_t left = backlog_[word]; left != 0; left &= left - 1) {
        const auto index =
            static_cast<std::uint32_t>(word * 64 + static_cast<unsigned>(std::countr_zero(left)));
        if (arrivals.empty() || arrivals.at(index).empty()) run_port(index, {}, window, worker);
      }
    }
  }
  arrivals.for_each_port([&](std::size_t port) {
    run_port(static_cast<std::uint32_t>(port), arrivals.at(port), window, worker);
  });
  if (!ingresses_.empty()) pause_senders(window, worker);
}

void SwitchNode::run_port(std::uint32_t index, std::span<const Arrivals::Entry> arrivals,
                          const Window& window, Worker& worker) {
  for (const Arrivals::Entry& entry : arrivals) {
    serve(index, entry.packet->at, window, worker);
    if (is_pause(*entry.packet)) [[unlikely]] {
      apply_pause(index, *entry.packet);
    } else {
      arrive(index, *entry.packet, window, worker);
    }
  }
  serve(index, window.end, window, worker);
  const Port& port = ports_[index];
  const std::uint64_t bit = std::uint64_t{1} << index % 64;
  if (port.data.bytes + port.control.bytes > 0) {
    backlog_[index / 64] |= bit;
  } else {
    backlog_[index / 64] &= ~bit;
  }
}

// Sends what waits and can begin to leave before `until`.
void SwitchNode::serve(std::uint32_t index, Picoseconds until, const Window& window,
                       Worker& worker) {
  Port& port = ports_[index];
  while (can_send(port) && port.free_at < until) {
    const Packet& packet = dequeue(port);
    depart(index, packet, port.free_at, window, worker);
    Queue& queue = packet.is_data ? port.data : port.control;
    queue.bytes -= buffered_size(packet);
  }
}

void SwitchNode::arrive(std::uint32_t index, const Packet& packet, const Window& window,
                        Worker& worker) {
  const Port& port = ports_[index];
  const softswitch::QueuePolicy policy = policy_of(index, packet.at);
  const QueueClass queue = packet.is_data ? QueueClass::kData : QueueClass::kControl;
  switch (judge_arrival(policy, queue, packet.trimmable, buffered_size(packet),
                        kTrimmedSize - kEthernetOverhead, port.data.bytes, port.control.bytes)) {
    case softswitch::Verdict::kQueue: return accept(index, packet, window, worker);
    case softswitch::Verdict::kTrim: {
      ++worker.stats.totals.packets_trimmed;
      worker.stats.totals.payload_bytes_trimmed += payload_size(packet);
      ++worker.stats.bucket(packet.at).trimmed;
      return accept(index, trimmed(packet, policy.place), window, worker);
    }
    case softswitch::Verdict::kDropData:
      return worker.stats.lose(packet, Loss::kDataFull, packet.at);
    case softswitch::Verdict::kDropControl:
      return worker.stats.lose(packet, Loss::kControlFull, packet.at);
  }
}

softswitch::QueuePolicy SwitchNode::policy_of(std::uint32_t index, Picoseconds when) const {
  softswitch::QueuePolicy policy = network_.policy(kind_of(index));
  const LinkFaults::Index fault = ports_[index].fault;
  if (fault == LinkFaults::kNone) [[likely]]
    return policy;
  const std::uint64_t percent = network_.faults().state(fault, when).speed_percent;
  for (std::uint32_t* bytes :
       {&policy.ecn_min_bytes, &policy.ecn_max_bytes, &policy.data_max_bytes}) {
    *bytes = static_cast<std::uint32_t>(*bytes * percent / 100);
  }
  return policy;
}

void SwitchNode::accept(std::uint32_t index, const Packet& packet, const Window& window,
                        Worker& worker) {
  Port& port = ports_[index];
  const bool idle = port.data.bytes + port.control.bytes == 0 && port.free_at <= packet.at &&
                    !(port.paused && packet.is_data);
  if (idle) return depart(index, packet, packet.at, window, worker);
  // A port that is not busy here has nothing but data that it may not send.
  port.free_at = std::max(port.free_at, packet.at);
  enqueue(port, packet);
  const auto kind = static_cast<std::size_t>(kind_of(index));
  std::uint64_t& most = worker.stats.bucket(packet.at).queue_max_bytes[kind];
  most = std::max<std::uint64_t>(most, port.data.bytes);
}

void SwitchNode::enqueue(Port& port, const Packet& packet) {
  if (free_slot_ == kNoSlot) {
    free_slot_ = static_cast<Slot>(waiting_.size());
    waiting_.emplace_back();
    following_.push_back(kNoSlot);
  }
  const Slot slot = free_slot_;
  free_slot_ = following_[slot];
  waiting_[slot] = packet;
  following_[slot] = kNoSlot;
  Queue& queue = packet.is_data ? port.data : port.control;
  (queue.first == kNoSlot ? queue.first : following_[queue.last]) = slot;
  queue.last = slot;
  queue.bytes += buffered_size(packet);
  ++queued_;
  if (!ingresses_.empty()) ingresses_[packet.ingress].bytes += buffered_size(packet);
}

// The next packet to leave; its bytes still count as waiting. It stays until the next `enqueue`.
const Packet& SwitchNode::dequeue(Port& port) {
  const bool both = port.data.first != kNoSlot && port.control.first != kNoSlot && !port.paused;
  const bool control =
      both ? port.share.next() == QueueClass::kControl : port.control.first != kNoSlot;
  Queue& queue = control ? port.control : port.data;
  const Slot slot = queue.first;
  queue.first = following_[slot];
  if (queue.first == kNoSlot) {
    queue.last = kNoSlot;
  } else {
    __builtin_prefetch(&waiting_[queue.first]);
    __builtin_prefetch(&waiting_[queue.first].from);
  }
  following_[slot] = free_slot_;
  free_slot_ = slot;
  --queued_;
  const Packet& packet = waiting_[slot];
  if (!ingresses_.empty()) ingresses_[packet.ingress].bytes -= buffered_size(packet);
  if (both)
    port.share.charge(control ? QueueClass::kControl : QueueClass::kData, buffered_size(packet));
  return packet;
}

void SwitchNode::depart(std::uint32_t index, const Packet& packet, Picoseconds start,
                        const Window& window, Worker& worker) {
  Port& port = ports_[index];
  const PortKind kind = kind_of(index);
  const Line& line = kind == PortKind::kT0Down ? network_.host_line() : network_.uplink_line();
  const softswitch::QueuePolicy policy = policy_of(index, start);
  const bool marks =
      packet.is_data && packet.ecn_capable && !packet.marked &&
      port.data.bytes > policy.ecn_min_bytes &&
      marks_congestion(policy, port.data.bytes, network_.random(node_, index, port.drawn++));
  if (marks) {
    ++worker.stats.totals.packets_marked;
    ++worker.stats.bucket(start).marked;
  }
  Picoseconds leaving = line.serialisation(packet.size);
  if (port.fault != LinkFaults::kNone) [[unlikely]] {
    leaving = leaving * 100 / network_.faults().state(port.fault, start).speed_percent;
  }
  port.free_at = start + leaving;
  ++worker.stats.totals.switch_hops;
  const Picoseconds arrival = port.free_at + line.delay;
  if (port.fault != LinkFaults::kNone && !survives(index, start, arrival, packet, worker))
      [[unlikely]] {
    return;
  }
  const NextHop hop = next_hop(index, packet);
  Packet& out = worker.post(hop.node, arrival, window);
  out = packet;
  out.at = arrival;
  out.egress = hop.egress;
  out.ingress = hop.ingress;
  out.marked = packet.marked || marks;
}

bool SwitchNode::survives(std::uint32_t index, Picoseconds start, Picoseconds arrival,
                          const Packet& packet, Worker& worker) {
  Port& port = ports_[index];
  if (!network_.faults().stays_up(port.fault, start, arrival)) {
    worker.stats.lose(packet, Loss::kLinkDown, start);
    return false;
  }
  const LinkState& state = network_.faults().state(port.fault, start);
  const std::uint32_t rate = state.loss_per_billion;
  if (rate == 0 && packet.size <= state.mtu) return true;
  const std::uint64_t drawn = network_.random(node_, index, port.drawn++);
  if (packet.size <= state.mtu && drawn * 1'000'000'000 >> 32 >= rate) return true;
  worker.stats.lose(packet, Loss::kLinkError, start);
  return false;
}

SwitchNode::NextHop SwitchNode::next_hop(std::uint32_t index, const Packet& packet) const {
  const fabric::Fabric& fabric = network_.fabric();
  switch (kind_of(index)) {
    case PortKind::kT0Down:
      return {.node = Network::host_rack(index_),
              .egress = static_cast<std::uint16_t>(index),
              .ingress = plane_.raw()};
    case PortKind::kT0Up:
      return {.node = network_.t1(plane_, index - network_.hosts_per_rack()),
              .egress = static_cast<std::uint16_t>(fabric.rack_of(packet.to)),
              .ingress = static_cast<std::uint16_t>(index_)};
    case PortKind::kT1Down: break;
  }
  return {.node = network_.t0(plane_, index),
          .egress = static_cast<std::uint16_t>(fabric.downlink_of(packet.to)),
          .ingress = static_cast<std::uint16_t>(network_.hosts_per_rack() + index_)};
}

void SwitchNode::apply_pause(std::uint32_t index, const Packet& pause) {
  Port& port = ports_[index];
  port.paused = pause.kind == PacketKind::kPause;
  port.free_at = std::max(port.free_at, pause.at);
}

void SwitchNode::pause_senders(const Window& window, Worker& worker) {
  for (std::uint32_t i = 0; i < ingresses_.size(); ++i) {
    Ingress& ingress = ingresses_[i];
    const std::uint32_t limit = network_.pause_bytes();
    const bool pause = ingress.bytes > (ingress.paused ? limit / 2 : limit);
    if (pause == ingress.paused) continue;
    ingress.paused = pause;
    const NextHop sender = sender_behind(i);
    const bool to_host = network_.is_host_rack(sender.node);
    const Picoseconds arrival =
        window.end + (to_host ? network_.host_line() : network_.uplink_line()).delay;
    Packet& out = worker.post(sender.node, arrival, window);
    out = {.at = arrival,
           .egress = sender.egress,
           .ingress = sender.ingress,
           .plane = plane_,
           .kind = pause ? PacketKind::kPause : PacketKind::kResume};
  }
}

// The port at the other end of a link.
SwitchNode::NextHop SwitchNode::sender_behind(std::uint32_t ingress) const {
  const auto port = [](std::uint32_t number) { return static_cast<std::uint16_t>(number); };
  const std::uint32_t hosts = network_.hosts_per_rack();
  if (!is_t0_) {
    return {network_.t0(plane_, ingress), port(hosts + index_), kPauseIngress};
  }
  if (ingress < hosts) return {Network::host_rack(index_), port(ingress), kPauseIngress};
  return {network_.t1(plane_, ingress - hosts), port(index_), kPauseIngress};
}

void SwitchNode::count_in_flight(Worker& worker) const {
  for (const Port& port : ports_) {
    for (const Queue* queue : {&port.data, &port.control}) {
      for (Slot slot = queue->first; slot != kNoSlot; slot = following_[slot]) {
        worker.stats.count_lost(waiting_[slot], Loss::kInFlight);
      }
    }
  }
}

}  // namespace openmrc::sim
