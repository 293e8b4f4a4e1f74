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
  wire::Body& body = packet.content->body;
  const auto write = std::get<wire::RdmaWrite>(body);
  body = wire::TrimmedWrite{.place = place,
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

std::uint32_t downlinks_of(const Network& network, fabric::Tier tier) {
  switch (tier) {
    case fabric::Tier::kT0: return network.hosts_per_rack();
    case fabric::Tier::kT1: return network.fabric().t1_downlinks();
    case fabric::Tier::kT2: break;
  }
  return network.fabric().shape().pods;
}

std::uint32_t uplinks_of(const Network& network, fabric::Tier tier) {
  switch (tier) {
    case fabric::Tier::kT0: return network.uplinks();
    case fabric::Tier::kT1: return network.fabric().shape().t1_uplinks;
    case fabric::Tier::kT2: break;
  }
  return 0;
}

constexpr bool leads_up(PortKind kind) {
  return kind == PortKind::kT0Up || kind == PortKind::kT1Up;
}

}  // namespace

SwitchNode::SwitchNode(const Network& network, NodeIndex node)
    : network_(network),
      node_(node),
      own_(network.switch_of(node)),
      downlinks_(downlinks_of(network, own_.tier)),
      ports_(downlinks_ + uplinks_of(network, own_.tier)),
      buffer_(network, own_.tier == fabric::Tier::kT0, static_cast<std::uint32_t>(ports_.size())) {
  backlog_.resize((ports_.size() + 63) / 64);
  const auto uplinks = static_cast<std::uint32_t>(ports_.size()) - downlinks_;
  if (uplinks > 0 && network.scenario().switches.balancing != Balancing::kEcmp) {
    balancer_ = std::make_unique<UplinkBalancer>(network, node, downlinks_, uplinks);
  }
  for (std::uint32_t i = 0; i < ports_.size(); ++i) {
    ports_[i].kind = kind_of(i);
    ports_[i].fault = network.faults().find(link_of(i), leads_up(ports_[i].kind));
  }
}

fabric::LinkId SwitchNode::link_of(std::uint32_t index) const {
  using Kind = fabric::LinkId::Kind;
  switch (kind_of(index)) {
    case PortKind::kT0Down: return {Kind::kHost, own_.plane, own_.index, index};
    case PortKind::kT0Up: return {Kind::kUplink, own_.plane, own_.index, index - downlinks_};
    case PortKind::kT1Down:
    case PortKind::kT1Up: return network_.fabric().t1_link(own_.plane, own_.index, index);
    case PortKind::kT2Down: break;
  }
  return network_.fabric().t2_link(own_.plane, own_.index, index);
}

void SwitchNode::sample_links(SeriesRecorder& series) {
  if (!counts_.on()) return;
  for (std::uint32_t i = 0; i < ports_.size(); ++i) {
    series.add_link({.link = link_of(i), .upward = leads_up(ports_[i].kind)},
                    counts_.take(i, ports_[i].data.bytes));
  }
}

void SwitchNode::run(const Window& window, const Arrivals& arrivals, Worker& worker) {
  if (buffer_.is_shared()) buffer_.begin_window();
  if (balancer_ != nullptr) {
    run_balanced(window, arrivals, worker);
    if (buffer_.pauses()) pause_senders(window, worker);
    return;
  }
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
  if (buffer_.pauses()) pause_senders(window, worker);
}

void SwitchNode::run_balanced(const Window& window, const Arrivals& arrivals, Worker& worker) {
  if (arrivals.empty() && queued_ == 0) return;
  const std::span<Picoseconds> free_at = balancer_->free_at();
  for (std::uint32_t i = 0; i < free_at.size(); ++i) {
    const Port& port = ports_[downlinks_ + i];
    free_at[i] =
        port.free_at + network_.uplink_line().serialisation(port.data.bytes + port.control.bytes);
    if (port.paused) free_at[i] = std::max(free_at[i], window.end);
  }
  if (!arrivals.empty()) balancer_->spread(arrivals, window);
  for (std::uint32_t i = 0; i < ports_.size(); ++i) {
    std::span<const Packet> own;
    if (!arrivals.empty()) own = i < downlinks_ ? arrivals.at(i) : balancer_->at(i - downlinks_);
    const bool waits = (backlog_[i / 64] >> i % 64 & 1) != 0;
    if (waits || !own.empty()) run_port(i, own, window, worker);
  }
}

void SwitchNode::run_port(std::uint32_t index, std::span<const Packet> arrivals,
                          const Window& window, Worker& worker) {
  if (buffer_.is_shared()) buffer_.begin_port();
  for (const Packet& packet : arrivals) {
    const Picoseconds at = window.begin + packet.key.time();
    serve(index, at, window, worker);
    if (is_pause(packet)) [[unlikely]] {
      apply_pause(index, packet, at);
    } else {
      arrive(index, packet, at, window, worker);
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

void SwitchNode::arrive(std::uint32_t index, const Packet& packet, Picoseconds at,
                        const Window& window, Worker& worker) {
  const Port& port = ports_[index];
  const softswitch::QueuePolicy& policy = policy_of(port, at);
  const QueueClass queue = packet.is_data ? QueueClass::kData : QueueClass::kControl;
  if (buffer_.is_shared() && packet.is_data &&
      !buffer_.has_room(packet.key.ingress(), buffered_size(packet))) [[unlikely]] {
    counts_.lost(index);
    return worker.lose(packet, Loss::kDataFull, at);
  }
  switch (judge_arrival(policy, queue, packet.trimmable, buffered_size(packet),
                        kTrimmedSize - kEthernetOverhead, port.data.bytes, port.control.bytes)) {
    case softswitch::Verdict::kQueue: return accept(index, packet, at, window, worker);
    case softswitch::Verdict::kTrim: {
      ++worker.stats.totals.packets_trimmed;
      worker.stats.totals.payload_bytes_trimmed += payload_size(*packet.content);
      ++worker.stats.bucket(at).trimmed;
      counts_.trimmed(index);
      return accept(index, trimmed(packet, policy.place), at, window, worker);
    }
    case softswitch::Verdict::kDropData:
      counts_.lost(index);
      return worker.lose(packet, Loss::kDataFull, at);
    case softswitch::Verdict::kDropControl:
      counts_.lost(index);
      return worker.lose(packet, Loss::kControlFull, at);
  }
}

const softswitch::QueuePolicy& SwitchNode::make_own_policy(const Port& port, Picoseconds when) {
  own_policy_ = network_.policy(port.kind);
  if (port.fault != LinkFaults::kNone) {
    const std::uint64_t percent = network_.faults().state(port.fault, when).speed_percent;
    for (std::uint32_t* bytes :
         {&own_policy_.ecn_min_bytes, &own_policy_.ecn_max_bytes, &own_policy_.data_max_bytes}) {
      *bytes = static_cast<std::uint32_t>(*bytes * percent / 100);
    }
  }
  if (buffer_.is_shared()) {
    own_policy_.data_max_bytes = std::min(own_policy_.data_max_bytes, buffer_.queue_max_bytes());
  }
  return own_policy_;
}

void SwitchNode::accept(std::uint32_t index, const Packet& packet, Picoseconds at,
                        const Window& window, Worker& worker) {
  Port& port = ports_[index];
  const bool idle = port.data.bytes + port.control.bytes == 0 && port.free_at <= at &&
                    !(port.paused && packet.is_data);
  if (idle) return depart(index, packet, at, window, worker);
  // A port that is not busy here has nothing but data that it may not send.
  port.free_at = std::max(port.free_at, at);
  enqueue(port, packet);
  const auto kind = static_cast<std::size_t>(port.kind);
  std::uint64_t& most = worker.stats.bucket(at).queue_max_bytes[kind];
  most = std::max<std::uint64_t>(most, port.data.bytes);
  counts_.queued(index, port.data.bytes);
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
  if (buffer_.counts()) buffer_.add(packet.key.ingress(), buffered_size(packet), packet.is_data);
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
  }
  following_[slot] = free_slot_;
  free_slot_ = slot;
  --queued_;
  const Packet& packet = waiting_[slot];
  if (buffer_.counts()) buffer_.remove(packet.key.ingress(), buffered_size(packet), packet.is_data);
  if (both)
    port.share.charge(control ? QueueClass::kControl : QueueClass::kData, buffered_size(packet));
  return packet;
}

bool SwitchNode::is_marked(std::uint32_t index, Picoseconds when) {
  Port& port = ports_[index];
  const softswitch::QueuePolicy& policy = policy_of(port, when);
  return port.data.bytes > policy.ecn_min_bytes &&
         marks_congestion(policy, port.data.bytes, network_.random(node_, index, port.drawn++));
}

void SwitchNode::depart(std::uint32_t index, const Packet& packet, Picoseconds start,
                        const Window& window, Worker& worker) {
  Port& port = ports_[index];
  const Hop& hop = network_.hop(port.kind);
  // What has nothing behind it is not marked.
  const bool marks = packet.is_data && port.data.bytes > 0 && packet.ecn_capable &&
                     !packet.marked && is_marked(index, start);
  if (marks) {
    ++worker.stats.totals.packets_marked;
    ++worker.stats.bucket(start).marked;
  }
  Picoseconds leaving = hop.line.serialisation(packet.size);
  if (port.fault != LinkFaults::kNone) [[unlikely]] {
    leaving = leaving * 100 / network_.faults().state(port.fault, start).speed_percent;
  }
  port.free_at = start + leaving;
  ++worker.stats.totals.switch_hops;
  counts_.sent(index, packet.size, marks);
  Picoseconds arrival = hop.arrival(start, packet.size);
  if (port.fault != LinkFaults::kNone) [[unlikely]] {
    // Bytes that come slowly do not pass through: the whole packet has to be there.
    if (leaving != hop.line.serialisation(packet.size)) arrival = port.free_at + hop.delay;
    if (!survives(index, start, port.free_at + hop.line.delay, packet, worker)) {
      return counts_.lost(index);
    }
  }
  Packet out = packet;
  out.marked = packet.marked || marks;
  worker.post(out, next_hop(index, packet), arrival, window);
}

bool SwitchNode::survives(std::uint32_t index, Picoseconds start, Picoseconds arrival,
                          const Packet& packet, Worker& worker) {
  Port& port = ports_[index];
  if (!network_.faults().stays_up(port.fault, start, arrival)) {
    worker.lose(packet, Loss::kLinkDown, start);
    return false;
  }
  const LinkState& state = network_.faults().state(port.fault, start);
  const std::uint32_t rate = state.loss_per_billion;
  if (rate == 0 && packet.size <= state.mtu) return true;
  const std::uint64_t drawn = network_.random(node_, index, port.drawn++);
  if (packet.size <= state.mtu && drawn * 1'000'000'000 >> 32 >= rate) return true;
  worker.lose(packet, Loss::kLinkError, start);
  return false;
}

NextHop SwitchNode::next_hop(std::uint32_t index, const Packet& packet) const {
  if (ports_[index].kind == PortKind::kT0Down) {
    return {.node = Network::host_rack(own_.index),
            .egress = static_cast<std::uint16_t>(index),
            .ingress = own_.plane.raw()};
  }
  const FarEnd end = far_end(index);
  return {.node = end.node,
          .egress = static_cast<std::uint16_t>(next_egress(index, packet)),
          .ingress = static_cast<std::uint16_t>(end.port)};
}

SwitchNode::FarEnd SwitchNode::far_end(std::uint32_t index) const {
  const fabric::Fabric& fabric = network_.fabric();
  const std::uint32_t uplink = index - downlinks_;
  switch (ports_[index].kind) {
    case PortKind::kT0Up:
      return {network_.t1(own_.plane, fabric.t1_of(own_.index, uplink)),
              fabric.t1_port(own_.index, uplink)};
    case PortKind::kT1Down: {
      const fabric::LinkId link = fabric.t1_link(own_.plane, own_.index, index);
      return {network_.t0(own_.plane, link.rack), network_.hosts_per_rack() + link.port};
    }
    case PortKind::kT1Up:
      return {network_.t2(own_.plane, fabric.t2_of(own_.index, uplink)),
              fabric.pod_of_t1(own_.index)};
    case PortKind::kT2Down: {
      const fabric::LinkId link = fabric.t2_link(own_.plane, own_.index, index);
      return {network_.t1(own_.plane, link.rack), fabric.t1_downlinks() + link.port};
    }
    case PortKind::kT0Down: break;
  }
  OPENMRC_CHECK(false, "hosts are no switch");
}

// An EV's path comes down by the uplink numbers by which it went up.
std::uint32_t SwitchNode::next_egress(std::uint32_t index, const Packet& packet) const {
  const fabric::Fabric& fabric = network_.fabric();
  const std::uint32_t rack = fabric.rack_of(packet.to);
  switch (ports_[index].kind) {
    case PortKind::kT0Up:
      if (fabric.has_t2() && fabric.pod_of_rack(rack) != fabric.pod_of_rack(own_.index))
          [[unlikely]] {
        return network_.t1_port_up(packet.content->path);
      }
      return fabric.t1_port(rack, index - downlinks_);
    case PortKind::kT1Up: return fabric.pod_of_rack(rack);
    case PortKind::kT2Down: return fabric.t1_port(rack, own_.index / fabric.shape().t1_uplinks);
    case PortKind::kT1Down:
    case PortKind::kT0Down: break;
  }
  return fabric.downlink_of(packet.to);
}

void SwitchNode::apply_pause(std::uint32_t index, const Packet& pause, Picoseconds at) {
  Port& port = ports_[index];
  port.paused = pause.kind == PacketKind::kPause;
  port.free_at = std::max(port.free_at, at);
}

void SwitchNode::pause_senders(const Window& window, Worker& worker) {
  buffer_.end_window();
  const auto links = static_cast<std::uint32_t>(ports_.size());
  for (std::uint32_t i = 0; i < links; ++i) {
    const SwitchBuffer::Change change = buffer_.judge_sender(i);
    if (change == SwitchBuffer::Change::kNone) continue;
    const bool to_host = ports_[i].kind == PortKind::kT0Down;
    const FarEnd end = to_host ? FarEnd{Network::host_rack(own_.index), i} : far_end(i);
    const NextHop sender{end.node, static_cast<std::uint16_t>(end.port), kPauseIngress};
    const Picoseconds arrival =
        window.end + (to_host ? network_.host_line() : network_.uplink_line()).delay;
    const bool pause = change == SwitchBuffer::Change::kPause;
    if (pause) ++worker.stats.totals.pauses;
    worker.post(
        Packet{.plane = own_.plane, .kind = pause ? PacketKind::kPause : PacketKind::kResume},
        sender, arrival, window);
  }
}

void SwitchNode::count_in_flight(Worker& worker) const {
  for (const Port& port : ports_) {
    for (const Queue* queue : {&port.data, &port.control}) {
      for (Slot slot = queue->first; slot != kNoSlot; slot = following_[slot]) {
        worker.stats.count_lost(*waiting_[slot].content, Loss::kInFlight);
      }
    }
  }
}

}  // namespace openmrc::sim
