// SPDX-License-Identifier: BSD-3-Clause
// What a World holds to be true of its endpoint, whatever the peer does.
#include <algorithm>
#include <variant>

#include "fuzz/endpoint_world.h"
#include "openmrc/wire/decode.h"
#include "openmrc/wire/encode.h"
#include "openmrc/wire/field/connection_id.h"
#include "tests/support/arbitrary_packet.h"

namespace openmrc::fuzz {

using namespace core;

namespace {

constexpr wire::WireSettings kWire{};

bool has_usable(const PathSet& paths, Plane plane) {
  const PlaneRange range = paths.profile().range(plane);
  for (std::size_t i = range.first; i < range.first + range.count; ++i) {
    if (is_usable(paths.state(EvIndex(static_cast<std::uint8_t>(i))))) return true;
  }
  return false;
}

// The queue pair that a packet is for; 0 for the endpoint itself.
Qpn destination_of(const wire::Body& body) {
  return std::visit(
      [](const auto& of_its_kind) {
        if constexpr (requires { of_its_kind.destination_qp; }) {
          return of_its_kind.destination_qp;
        } else {
          return Qpn{};
        }
      },
      body);
}

}  // namespace

void World::take_completion(const Completion& completion) {
  Slot& at = slots_[slot_of_local(completion.qpn)];
  if (completion.kind == WorkKind::kReceive) {
    FUZZ_CHECK(!at.receives.empty() && at.receives.front() == completion.id);
    FUZZ_CHECK(completion.status == WorkStatus::kSuccess ||
               completion.status == WorkStatus::kFlushed);
    at.receives.pop_front();
    FUZZ_CHECK(completion.length <= GuardedMemory::kOpenSize);  // nobody may write more than that
    if (completion.status == WorkStatus::kSuccess) ++at.immediates_received;
    return;
  }
  FUZZ_CHECK(!at.writes.empty() && at.writes.front().request.id == completion.id);
  const PostedWrite& write = at.writes.front();
  FUZZ_CHECK(completion.status != WorkStatus::kSuccess || write.packets_sent == write.packets);
  FUZZ_CHECK(completion.length == write.request.data.size());
  at.writes.pop_front();
  ++at.writes_completed;
}

void World::take_transmit(const Transmit& sent, PlaneMask ports) {
  FUZZ_CHECK(sent.plane.raw() < kPlanes && ports.has(sent.plane) && ports_up_.has(sent.plane));
  check_own_address(sent);
  check_route(sent);
  if (compares_bytes_) check_round_trip(sent.packet);
  const wire::Body& body = sent.packet.transport.body;
  FUZZ_CHECK(!std::holds_alternative<wire::TrimmedWrite>(body));
  if (const auto* write = std::get_if<wire::RdmaWrite>(&body)) {
    take_data(sent, *write);
  } else if (const auto* sack = std::get_if<wire::Sack>(&body)) {
    check_sack(*sack);
    ++sacks_sent_[slot_of(sack->destination_qp)];
  } else if (const auto* nack = std::get_if<wire::Nack>(&body)) {
    check_nack(*nack);
  } else if (const auto* acknowledge = std::get_if<wire::Acknowledge>(&body)) {
    ++acknowledges_sent_[slot_of(acknowledge->destination_qp)];
  } else if (const auto* probe = std::get_if<wire::ReliabilityProbe>(&body)) {
    last_probe_id_ = probe->peth.id.raw();
  } else if (const auto* request = std::get_if<wire::EndpointRequest>(&body)) {
    last_request_id_ = request->id.raw();
    unanswered_.push_back(request->id);
  } else {
    ++responses_sent_;
  }
}

// Nobody speaks with another's address.
void World::check_own_address(const Transmit& sent) const {
  const wire::Ipv6Address own = own_address(sent.plane.raw());
  if (const auto* route = std::get_if<wire::Ipv6Route>(&sent.packet.route)) {
    FUZZ_CHECK(family_ == AddressFamily::kIpv6 && route->source == own);
    return;
  }
  FUZZ_CHECK(family_ == AddressFamily::kIpv4);
  FUZZ_CHECK(std::get<wire::Ipv4Route>(sent.packet.route).source == ipv4_of(own));
}

// What is for a queue pair takes a path of its peer's, from the port of that path, that the
// controller has not forbidden if there is any other; and the peer can receive on that plane.
void World::check_route(const Transmit& sent) const {
  const Qpn remote = destination_of(sent.packet.transport.body);
  if (remote == Qpn{}) return;
  const Peer& to = *peer(slot_of(remote));
  FUZZ_CHECK(to.remote_ports.has(sent.plane));
  const auto ev = to.paths.profile().find(wire::ev_of(sent.packet));
  FUZZ_CHECK(ev && to.paths.profile().entry(*ev).plane == sent.plane);
  FUZZ_CHECK(to.paths.state(*ev) != EvState::kDenied || !has_usable(to.paths, sent.plane));
}

void World::check_round_trip(const wire::Packet& packet) {
  FUZZ_CHECK(wire::encoded_size(packet) <= encoded_.size());
  const std::size_t size = wire::encode_packet(packet, kWire, encoded_);
  const auto decoded = wire::decode_ip(ConstBytes(encoded_).first(size), kWire);
  FUZZ_CHECK(decoded && test::same_packet(packet, *decoded));
}

void World::take_data(const Transmit& sent, const wire::RdmaWrite& write) {
  const std::size_t by = slot_of(write.destination_qp);
  FUZZ_CHECK(endpoint_->state(*slots_[by].local) == QueuePairState::kReadyToSend);
  check_window(by, write);
  check_path(by, sent);
  check_part(by, write);
  recent_data_[data_sent_++ % recent_data_.size()] = {
      .slot = by, .psn = write.psn, .ev = wire::ev_of(sent.packet)};
}

// MRC 7.5.1: nothing beyond what the responder offers. Only a packet that asks for a lost
// acknowledgement lies below.
void World::check_window(std::size_t slot, const wire::RdmaWrite& write) const {
  const Requestor& requestor = queue_pair(slot)->requestor;
  const SentWindow& window = requestor.window();
  const std::int64_t ahead = window.oldest().nearest(write.psn) - window.oldest();
  FUZZ_CHECK(ahead < window.size());
  FUZZ_CHECK(ahead < requestor.psn_range());
  FUZZ_CHECK(ahead >= 0 || write.retransmission);
}

void World::check_path(std::size_t slot, const Transmit& sent) const {
  const Peer& to = *peer(slot);
  const auto ev = to.paths.profile().find(wire::ev_of(sent.packet));
  FUZZ_CHECK(ev && is_usable(to.paths.state(*ev)));
}

// The packet is the part of a posted write that its numbers say, and the write is not complete:
// the application may have reused its memory then.
void World::check_part(std::size_t slot, const wire::RdmaWrite& write) {
  Slot& by = slots_[slot];
  const Msn first_msn = Msn{} + by.writes_completed;
  const std::int64_t index = write.meth.msn.distance_from(first_msn);
  FUZZ_CHECK(index >= 0 && static_cast<std::size_t>(index) < by.writes.size());
  PostedWrite& of = by.writes[static_cast<std::size_t>(index)];
  const WriteRequest& request = of.request;
  FUZZ_CHECK(write.reth.rkey == request.rkey && write.reth.dma_length == request.data.size());
  const std::uint64_t offset = write.reth.virtual_address - request.remote_address;
  FUZZ_CHECK(offset < request.data.size() && offset % kMtu == 0);
  const auto number = static_cast<std::uint32_t>(offset / kMtu);
  FUZZ_CHECK(write.payload.bytes().data() == request.data.bytes().data() + offset);
  FUZZ_CHECK(write.payload.size() == std::min<std::uint64_t>(kMtu, request.data.size() - offset));
  FUZZ_CHECK(write.part.begins_message() == (number == 0));
  FUZZ_CHECK(write.part.ends_message() == (number + 1 == of.packets));
  FUZZ_CHECK(!write.part.ends_message() || write.part.immediate() == request.immediate);
  if (of.packets_sent == 0) of.first_psn = write.psn;
  FUZZ_CHECK(write.psn == of.first_psn + number);
  if (write.retransmission) {
    FUZZ_CHECK(number < of.packets_sent);
  } else {
    FUZZ_CHECK(number == of.packets_sent);
    ++of.packets_sent;
  }
}

// MRC 7.5.2: it reports nothing that has not arrived.
void World::check_sack(const wire::Sack& sack) const {
  const std::size_t by = slot_of(sack.destination_qp);
  const ArrivalWindow& window = queue_pair(by)->responder.window();
  FUZZ_CHECK(sack.seth.cack_psn == window.cumulative().wrapped());
  FUZZ_CHECK(sack.seth.spdcid == wire::connection_id(*slots_[by].local));
  FUZZ_CHECK(sack.seth.dpdcid == wire::connection_id(slots_[by].remote));
  const UnwrappedPsn base = window.cumulative() + sack.seth.sack_offset;
  for (int i = 0; i < 64; ++i) {
    if ((sack.seth.sack_bitmap >> i & 1) != 0) FUZZ_CHECK(window.has(base + i));
  }
}

// It is about a packet of this connection; and only what is broken says so.
void World::check_nack(const wire::Nack& nack) const {
  const Slot& by = slots_[slot_of(nack.destination_qp)];
  if (nack.neth.reason == wire::NackReason::kUnexpectedEvent) {
    FUZZ_CHECK(endpoint_->state(*by.local) == QueuePairState::kError);
    return;
  }
  FUZZ_CHECK(std::find(by.heard.begin(), by.heard.end(), nack.neth.psn) != by.heard.end());
}

void World::check_slot(std::size_t index) const {
  const Slot& at = slots_[index];
  const QueuePair* qp = queue_pair(index);
  FUZZ_CHECK((qp != nullptr) == at.local.has_value());
  if (qp == nullptr) return;
  if (qp->state == QueuePairState::kError) FUZZ_CHECK(at.writes.empty() && at.receives.empty());
  const std::int64_t range = at.how.mpr * kPsnsPerMpr;
  const Requestor& requestor = qp->requestor;
  FUZZ_CHECK(requestor.window().size() >= 0 && requestor.window().size() <= range);
  if (qp->state == QueuePairState::kReadyToSend) {
    FUZZ_CHECK(requestor.psn_range() <= range);
    FUZZ_CHECK(at.how.dynamic_mpr || requestor.psn_range() == range);
    FUZZ_CHECK(requestor.idle() == at.writes.empty());
  }
  const ArrivalWindow& arrivals = qp->responder.window();
  FUZZ_CHECK(arrivals.out_of_order() >= 0 && arrivals.out_of_order() <= arrivals.range());
  const Peer* to = peer(index);
  if (to == nullptr) return;
  FUZZ_CHECK(to->in_flight >= ByteCount(0));
  bool any_in_flight = false;
  for (std::size_t i = 0; i < kSlots; ++i) {
    if (peer(i) == to) any_in_flight |= !queue_pair(i)->requestor.window().empty();
  }
  FUZZ_CHECK(any_in_flight || to->in_flight == ByteCount(0));
}

void World::check() {
  while (const auto completion = endpoint_->poll_completion()) take_completion(*completion);
  while (endpoint_->poll_event()) {
  }
  for (std::size_t i = 0; i < kSlots; ++i) check_slot(i);
  check_next_deadline();
  memory_.check();
}

// Whoever waits for the peer must be woken, if only to give up; or it is its turn to send.
void World::check_next_deadline() const {
  for (std::size_t i = 0; i < kSlots; ++i) {
    const QueuePair* qp = queue_pair(i);
    if (qp == nullptr || qp->state != QueuePairState::kReadyToSend) continue;
    FUZZ_CHECK(slots_[i].writes.empty() || endpoint_->next_deadline() ||
               endpoint_->wants_to_send());
  }
}

wire::Packet World::from_peer(std::size_t slot, const wire::Body& body) const {
  wire::Packet packet;
  const wire::Ipv6Address source = peer_address(slots_[slot].how.peer, 0);
  if (family_ == AddressFamily::kIpv6) {
    packet.route = wire::Ipv6Route{.source = source, .destination = own_address(0)};
  } else {
    packet.route =
        wire::Ipv4Route{.source = ipv4_of(source), .destination = ipv4_of(own_address(0))};
  }
  packet.transport.body = body;
  return packet;
}

// MRC 6.3.1, 7.3: whatever came before, a packet that has arrived once is acknowledged again, and a
// probe is answered.
void World::check_still_answers(std::size_t slot) {
  const QueuePair* qp = queue_pair(slot);
  if (qp == nullptr || !answers_requests(qp->state)) return;
  deliver(0, from_peer(slot, wire::EndpointRequest{
                                 .erth = {.op = wire::EndpointOp::kPortStatusUpdate,
                                          .port_status_mask = port_status_of(kAllPorts)}}));
  poll_all();
  acknowledges_sent_[slot] = 0;
  sacks_sent_[slot] = 0;
  responses_sent_ = 0;
  deliver(0, from_peer(slot, wire::RdmaWrite{.destination_qp = *slots_[slot].local,
                                             .psn = qp->responder.window().cumulative().wrapped(),
                                             .reth = {.dma_length = 1},
                                             .payload = wire::Payload::of_bytes(
                                                 ConstBytes(encoded_).first(1))}));
  deliver(0, from_peer(slot, wire::EndpointRequest{.erth = {.op = wire::EndpointOp::kEvProbe}}));
  poll_all();
  FUZZ_CHECK(sacks_sent_[slot] > 0);
  FUZZ_CHECK(acknowledges_sent_[slot] > 0);
  FUZZ_CHECK(responses_sent_ > 0);
}

std::uint64_t World::progress_of(std::size_t slot) const {
  std::uint64_t progress = slots_[slot].writes_completed;
  for (const PostedWrite& write : slots_[slot].writes) progress += write.packets_sent;
  return progress;
}

// Everything that was sent has arrived, and everything that was asked is answered.
void World::answer_honestly() {
  for (std::size_t i = 0; i < kSlots; ++i) {
    const QueuePair* qp = queue_pair(i);
    if (qp == nullptr || qp->state != QueuePairState::kReadyToSend) continue;
    for (const wire::EndpointRequestId id : unanswered_) {
      deliver(0, from_peer(i, wire::EndpointResponse{.id = id, .eeth = {}}));
    }
    const Slot& to = slots_[i];
    std::uint32_t sent = to.writes_completed;
    for (const PostedWrite& write : to.writes) sent += write.packets_sent == write.packets ? 1 : 0;
    const Psn last = (qp->requestor.window().next() - 1).wrapped();
    deliver(0, from_peer(i, wire::Sack{.destination_qp = *to.local,
                                       .seth = {.spdcid = wire::connection_id(to.remote),
                                                .dpdcid = wire::connection_id(*to.local),
                                                .cack_psn = last}}));
    deliver(0, from_peer(i, wire::Acknowledge{.destination_qp = *to.local,
                                              .psn = last,
                                              .aeth = {.msn = AckMsn(sent)}}));
    check();
  }
  unanswered_.clear();
}

// Once the peer has become honest and all paths work, what waits moves on.
void World::check_still_sends() {
  constexpr int kRoundsMax = 12;
  for (std::uint8_t profile = 0; profile < kEvProfiles; ++profile) {
    for (std::size_t ev = 0; ev < endpoint_->ev_profile(EvProfileId(profile)).size(); ++ev) {
      endpoint_->set_ev_denied(now_, EvProfileId(profile), EvIndex(static_cast<std::uint8_t>(ev)),
                               false);
    }
  }
  std::array<std::uint64_t, kSlots> before{};
  for (std::size_t i = 0; i < kSlots; ++i) before[i] = progress_of(i);
  const auto stands_still = [&](std::size_t slot) {
    return !slots_[slot].writes.empty() && progress_of(slot) == before[slot];
  };
  for (int round = 0; round < kRoundsMax && (stands_still(0) || stands_still(1)); ++round) {
    answer_honestly();
    poll_all();
    advance(milliseconds(200));
    poll_all();
    check();
  }
  for (std::size_t i = 0; i < kSlots; ++i) FUZZ_CHECK(!stands_still(i));
}

// The peer is honest from now on: everything still works. Then the way down: everything that was
// posted comes back, once, and nothing is left in flight.
void World::finish() {
  compares_bytes_ = false;
  unanswered_.clear();
  for (std::size_t plane = 0; plane < kPlanes; ++plane) set_port(plane, true);
  poll_all();
  for (std::size_t i = 0; i < kSlots; ++i) check_still_answers(i);
  check();
  check_still_sends();
  for (std::size_t i = 0; i < kSlots; ++i) fail(i);
  check();
  for (std::size_t i = 0; i < kSlots; ++i) destroy(i);
  poll_all();
  for (std::size_t i = 0; i < kSlots; ++i) {
    create(i);
    FUZZ_CHECK(slots_[i].local);
  }
  check();
  memory_.check_guards();
}

}  // namespace openmrc::fuzz
