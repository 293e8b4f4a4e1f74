// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/rc/rc_host.h"

#include <algorithm>
#include <variant>

#include "openmrc/base/check.h"
#include "openmrc/sim/rc/rc_packet.h"

namespace openmrc::sim {

namespace {

// What spreading packets over the uplinks of a T0 can bring about, with queues that are not full.
constexpr std::uint32_t kReorderingOfBalancing = 128;

std::uint32_t reordering_of(const Network& network, const RcTransport& transport) {
  const bool balances = network.scenario().switches.balancing != Balancing::kEcmp;
  return transport.reordering.value_or(balances ? kReorderingOfBalancing : 0);
}

}  // namespace

RcWorld make_rc_world(const Network& network, const Connections& connections,
                      const RcTransport& transport) {
  return {.network = network,
          .connections = connections,
          .transport = transport,
          .ecmp = Ecmp(network, transport.reroute_after),
          .sender = {.mtu = network.scenario().mtu(),
                     .timeout = transport.timeout,
                     .retries = transport.retries,
                     .dcqcn = dcqcn_defaults(network.fabric().shape().host_link_bits_per_second),
                     .recovery = transport.recovery,
                     .reordering = reordering_of(network, transport)},
          .switches_choose = network.scenario().switches.balancing != Balancing::kEcmp};
}

RcHost::RcHost(const RcWorld& world, fabric::HostIndex host, std::unique_ptr<Program> program)
    : world_(world),
      nic_(world.network, host),
      application_(
          Application(std::move(program), host, world.connections, world.transport.queue_pairs),
          world.network.scenario().nics.pcie_latency),
      ports_(world.network.planes()) {
  const std::uint32_t queue_pairs = world.transport.queue_pairs;
  std::uint32_t number = 0;
  for (const Connections::End& end : world.connections.outgoing(host)) {
    for (std::uint32_t i = 0; i < queue_pairs; ++i) connect_sending(number, end, i);
    ++number;
  }
  for (const Connections::End& end : world.connections.incoming(host)) {
    for (std::uint32_t i = 0; i < queue_pairs; ++i) connect_receiving(number, end, i);
    ++number;
  }
  wake_at_ = next_time();
}

Qpn RcHost::qpn_of(std::uint32_t number, std::uint32_t queue_pair) const {
  return Qpn(kFirstUsableQpn.raw() + number * world_.transport.queue_pairs + queue_pair);
}

void RcHost::connect_sending(std::uint32_t number, const Connections::End& end,
                             std::uint32_t queue_pair) {
  const EcmpFlow flow{.from = nic_.host(), .to = end.other, .qpn = qpn_of(number, queue_pair)};
  sending_.emplace_back(RcSender(world_.sender, qpn_of(end.number, queue_pair)),
                        EcmpPath(world_.ecmp, flow, world_.ecmp.plane(flow)));
}

void RcHost::connect_receiving(std::uint32_t number, const Connections::End& end,
                               std::uint32_t queue_pair) {
  const Qpn other = qpn_of(end.number, queue_pair);
  const EcmpFlow there{.from = end.other, .to = nic_.host(), .qpn = other};
  const EcmpFlow back{.from = nic_.host(), .to = end.other, .qpn = qpn_of(number, queue_pair)};
  receiving_.push_back({.receiver = RcReceiver(world_.transport.recovery),
                        .path = EcmpPath(world_.ecmp, back, world_.ecmp.plane(there)),
                        .other = other});
}

void RcHost::run(const Window& window, std::span<const Packet> arrivals, Worker& worker) {
  std::size_t next = 0;
  for (;;) {
    const Picoseconds arrival =
        next < arrivals.size() ? window.begin + arrivals[next].key.time() : kNoTime;
    const Picoseconds own = next_time();
    const Picoseconds time = std::min(arrival, own);
    if (time >= window.end) break;
    now_ = std::max(now_, time);
    if (arrival <= own) {
      receive(arrivals[next++], worker);
    } else if (application_.wake_at() <= now_) {
      application_.on_time(now_, worker);
    } else {
      handle_timeouts(worker);
    }
    follow_up(window, worker);
  }
  wake_at_ = next_time();
}

// When something happens here by itself.
Picoseconds RcHost::next_time() const {
  Picoseconds next = application_.wake_at();
  if (!waiting_.empty()) next = std::min(next, waiting_.top().first);
  if (!deadlines_.empty()) next = std::min(next, deadlines_.top().first);
  const bool wants_to_send = std::any_of(ports_.begin(), ports_.end(), [](const Port& port) {
    return !port.answers.empty() || !port.turn.empty();
  });
  return wants_to_send ? std::min(next, nic_.next_free(now_)) : next;
}

void RcHost::receive(const Packet& packet, Worker& worker) {
  Totals& totals = worker.stats.totals;
  switch (packet.kind) {
    case PacketKind::kPause:
    case PacketKind::kResume:
      return nic_.pause(packet.plane, packet.kind == PacketKind::kPause, now_);
    case PacketKind::kRcData: {
      const std::uint32_t bytes = payload_size(*packet.content);
      ++totals.data_packets_arrived;
      totals.payload_bytes_arrived += bytes;
      worker.stats.bucket(now_).payload_bytes[packet.plane.raw()] += bytes;
      receive_data(packet, worker);
      return worker.release(*packet.content);
    }
    case PacketKind::kRcAck:
    case PacketKind::kRcNak:
    case PacketKind::kRcSelective:
    case PacketKind::kRcCongestion:
      ++totals.control_packets_arrived;
      receive_answer(packet, worker);
      return worker.release(*packet.content);
    case PacketKind::kMrc: break;
  }
  OPENMRC_CHECK(false, "all hosts have the same transport");
}

void RcHost::receive_data(const Packet& packet, Worker& worker) {
  const auto& write = std::get<wire::RdmaWrite>(packet.content->body);
  const auto index =
      static_cast<Index>(write.destination_qp.raw() - kFirstUsableQpn.raw() - sending_.size());
  Receiving& receiving = receiving_[index];
  const RcReceiver::Outcome outcome = receiving.receiver.receive(write, packet.marked, now_);
  if (outcome.ack) answer(receiving, PacketKind::kRcAck, worker);
  if (outcome.nak) answer(receiving, PacketKind::kRcNak, worker);
  if (outcome.selective) answer_selectively(receiving, write.psn, worker);
  if (outcome.congestion) answer(receiving, PacketKind::kRcCongestion, worker);
  if (outcome.delivered) deliver(index, *outcome.delivered, worker);
  if (!outcome.closes_gap) return;
  while (const auto tag = receiving.receiver.take_delivered()) deliver(index, *tag, worker);
}

void RcHost::deliver(Index index, MessageTag tag, Worker& worker) {
  const std::uint32_t queue_pairs = world_.transport.queue_pairs;
  application_.on_received(now_, index / queue_pairs, index % queue_pairs, tag, worker);
}

void RcHost::answer(Receiving& receiving, PacketKind kind, Worker& worker) {
  const Psn expected = receiving.receiver.expected();
  const bool is_ack = kind == PacketKind::kRcAck;
  const auto syndrome =
      kind == PacketKind::kRcNak ? wire::AckSyndrome::kNakSequenceError : wire::AckSyndrome::kAck;
  const bool is_congestion = kind == PacketKind::kRcCongestion;
  queue_answer(receiving,
               Packet{.size = is_congestion ? kRcCongestionSize : kRcAckSize, .kind = kind},
               wire::Acknowledge{.destination_qp = receiving.other,
                                 .psn = is_ack ? expected + -1 : expected,
                                 .aeth = {.syndrome = syndrome}},
               worker);
}

void RcHost::answer_selectively(Receiving& receiving, Psn arrived, Worker& worker) {
  const Psn last = receiving.receiver.expected() + -1;
  queue_answer(
      receiving, Packet{.size = kRcSelectiveSize, .kind = PacketKind::kRcSelective},
      wire::Sack{.destination_qp = receiving.other,
                 .seth = {.cack_psn = last,
                          .sack_offset = static_cast<std::int16_t>(arrived.distance_from(last)),
                          .sack_bitmap = 1}},
      worker);
}

void RcHost::queue_answer(Receiving& receiving, Packet packet, const wire::Body& body,
                          Worker& worker) {
  Content& content = worker.take_content();
  content.from = nic_.host();
  content.ev = Ev{};
  content.body = body;
  packet.content = &content;
  packet.to = receiving.path.to();
  packet.plane = receiving.path.plane();
  ports_[packet.plane.raw()].answers.push({.packet = packet, .path = receiving.path.number(now_)});
}

void RcHost::receive_answer(const Packet& packet, Worker& worker) {
  if (packet.kind == PacketKind::kRcSelective) [[unlikely]]
    return receive_selective(packet, worker);
  const auto& acknowledge = std::get<wire::Acknowledge>(packet.content->body);
  const Index index = acknowledge.destination_qp.raw() - kFirstUsableQpn.raw();
  RcSender& sender = sending_[index].sender;
  if (packet.kind == PacketKind::kRcCongestion) return sender.on_congestion(now_);
  if (packet.kind == PacketKind::kRcAck) {
    sender.on_ack(now_, acknowledge.psn);
  } else {
    sender.on_nak(now_, acknowledge.psn);
  }
  take_done(index, worker);
  take_turn(index);
}

void RcHost::receive_selective(const Packet& packet, Worker& worker) {
  const auto& sack = std::get<wire::Sack>(packet.content->body);
  const Index index = sack.destination_qp.raw() - kFirstUsableQpn.raw();
  sending_[index].sender.on_selective(now_, sack.seth.cack_psn, sack.seth.bitmap_base());
  take_done(index, worker);
  take_turn(index);
}

void RcHost::handle_timeouts(Worker& worker) {
  while (!deadlines_.empty() && deadlines_.top().first <= now_) {
    const Index index = deadlines_.top().second;
    deadlines_.pop();
    Sending& sending = sending_[index];
    sending.watched = false;
    if (sending.sender.deadline() <= now_) {
      sending.sender.on_timeout();
      take_done(index, worker);
      take_turn(index);
    }
    watch(index);
  }
}

void RcHost::take_done(Index index, Worker& worker) {
  while (const auto done = sending_[index].sender.take_done()) {
    application_.on_sent(now_, done->message, done->failed, worker);
  }
}

void RcHost::follow_up(const Window& window, Worker& worker) {
  // A queue pair that is broken gives messages back at once; a failed message leads to no posting.
  for (const Application::Posting& posting : application_.postings()) {
    const Index index = posting.connection * world_.transport.queue_pairs + posting.queue_pair;
    sending_[index].sender.post(posting.bytes, posting.tag, posting.message);
    take_done(index, worker);
    take_turn(index);
  }
  application_.postings().clear();
  while (!waiting_.empty() && waiting_.top().first <= now_) {
    const Index index = waiting_.top().second;
    waiting_.pop();
    ports_[sending_[index].path.plane().raw()].turn.push(index);
  }
  const std::uint32_t free = nic_.free_ports(now_);
  for (std::size_t plane = 0; plane < ports_.size(); ++plane) {
    if ((free >> plane & 1) != 0) transmit(ports_[plane], window, worker);
  }
}

// If it has something to send and does not wait for its turn already.
void RcHost::take_turn(Index index) {
  Sending& sending = sending_[index];
  if (sending.in_turn || !sending.sender.has_packet()) return;
  sending.in_turn = true;
  waiting_.emplace(sending.sender.next_send_at(), index);
}

void RcHost::watch(Index index) {
  Sending& sending = sending_[index];
  if (sending.watched || sending.sender.deadline() == kNoTime) return;
  sending.watched = true;
  deadlines_.emplace(sending.sender.deadline(), index);
}

// At most one packet: then the port is busy.
void RcHost::transmit(Port& port, const Window& window, Worker& worker) {
  if (!port.answers.empty()) {
    const Answer answer = port.answers.pop();
    return nic_.send(answer.packet, answer.path, now_, window, worker);
  }
  while (!port.turn.empty()) {
    const Index index = port.turn.pop();
    Sending& sending = sending_[index];
    sending.in_turn = false;
    if (!sending.sender.has_packet()) continue;
    send_data(sending, window, worker);
    take_turn(index);
    return watch(index);
  }
}

void RcHost::send_data(Sending& sending, const Window& window, Worker& worker) {
  const wire::RdmaWrite write = sending.sender.take_packet(now_);
  Content& content = worker.take_content();
  content.from = nic_.host();
  content.ev = Ev{};
  content.body = write;
  const Packet packet{.content = &content,
                      .to = sending.path.to(),
                      .size = rc_data_size(write.part, write.payload.size()),
                      .plane = sending.path.plane(),
                      .kind = PacketKind::kRcData,
                      .is_data = true,
                      .ecn_capable = world_.transport.dcqcn};
  const std::uint16_t path = world_.switches_choose ? kAnyPath : sending.path.number(now_);
  if (write.retransmission) {
    ++worker.stats.totals.retransmissions;
    ++worker.stats.bucket(now_).retransmissions;
  }
  nic_.send(packet, path, now_, window, worker);
}

}  // namespace openmrc::sim
