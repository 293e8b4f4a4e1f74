// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/hostile_packets.h"

#include <algorithm>
#include <array>
#include <variant>

#include "openmrc/base/rng.h"
#include "openmrc/wire/field/connection_id.h"
#include "tests/support/arbitrary_packet.h"

namespace openmrc::fuzz {
namespace {

using namespace core;

constexpr std::int64_t kPsnHalf = std::int64_t{1} << 23;

// What peers write: every place differs, so that a byte in the wrong place shows.
const std::array<std::byte, kMtu + 1 + 256>& payload_memory() {
  static const auto memory = [] {
    std::array<std::byte, kMtu + 1 + 256> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 11 + 1);
    return bytes;
  }();
  return memory;
}

}  // namespace

void HostilePackets::choose_slot() {
  slot_ = input_.below(kSlots);
  if (!world_.slot(slot_).local) slot_ = 0;
}

// Mostly as it should be; the byte's upper values each break one thing.
wire::Packet HostilePackets::from_peer(const wire::Body& body) {
  const std::uint8_t choice = input_.u8();
  plane_ = choice % kPlanes;
  wire::Packet packet = addressed(body);
  if ((choice & 2) != 0) packet.ecn = wire::Ecn::kCongested;
  auto* route = std::get_if<wire::Ipv6Route>(&packet.route);
  switch (choice >> 2) {
    case 0x3f: packet.transport.pkey = PKey(0x7fff); break;
    case 0x3e: plane_ = (plane_ + 1) % kPlanes; break;  // the right address at the wrong port
    case 0x3d:
      if (route != nullptr) route->source = world_.peer_address(kPeers, plane_);
      break;
    case 0x3c: packet.route = wire::Ipv4Route{.source = wire::Ipv4Address(0x0a000001)}; break;
    case 0x3b:
      if (route != nullptr) route->encapsulation = wire::SrEncapsulation{};
      break;
    default: break;
  }
  return packet;
}

wire::Packet HostilePackets::addressed(const wire::Body& body) const {
  wire::Packet packet;
  const std::size_t peer = world_.slot(slot_).how.peer;
  const wire::Ipv6Address source = world_.peer_address(peer, plane_);
  const wire::Ipv6Address destination = world_.own_address(plane_);
  if (source.group(5) == 0xffff) {
    packet.route = wire::Ipv4Route{.source = ipv4_of(source), .destination = ipv4_of(destination)};
  } else {
    packet.route =
        wire::Ipv6Route{.source = source, .destination = destination, .ev = Ev(0x1234c000u)};
  }
  packet.transport.body = body;
  return packet;
}

Qpn HostilePackets::destination() {
  const std::uint8_t choice = input_.u8();
  if (choice == 0xff) return Qpn(input_.u16());
  return world_.slot(slot_).local.value_or(Qpn(kFirstUsableQpn.raw() + choice % 4));
}

// Near one of two numbers, or of those half a cycle away.
Psn HostilePackets::near(UnwrappedPsn low, UnwrappedPsn high) {
  const std::uint8_t mode = input_.u8();
  const std::int64_t step = input_.small();
  switch (mode % 8) {
    case 0:
    case 1:
    case 2: return (low + step).wrapped();
    case 3:
    case 4: return (high + step).wrapped();
    case 5: return (low + kPsnHalf + step).wrapped();
    case 6: return (high - kPsnHalf + step).wrapped();
    default: return Psn(input_.u32());
  }
}

Psn HostilePackets::near_arrivals() {
  const QueuePair* qp = world_.queue_pair(slot_);
  if (qp == nullptr) return near(UnwrappedPsn{}, UnwrappedPsn{});
  const ArrivalWindow& window = qp->responder.window();
  return near(window.expected(), window.expected() + window.range());
}

Psn HostilePackets::near_sent() {
  const QueuePair* qp = world_.queue_pair(slot_);
  if (qp == nullptr) return near(UnwrappedPsn{}, UnwrappedPsn{});
  const SentWindow& window = qp->requestor.window();
  return near(window.oldest(), window.next() - 1);
}

Ev HostilePackets::entropy() {
  const std::uint8_t choice = input_.u8();
  const Peer* peer = world_.peer(slot_);
  if (choice < 0x60) return world_.recent_data(choice % 16).ev;
  if (choice == 0xff || peer == nullptr) return Ev(input_.u32());
  const auto entries = peer->paths.profile().entries();
  return entries[choice % entries.size()].ev;
}

std::uint64_t HostilePackets::bitmap() {
  switch (input_.below(6)) {
    case 0: return 0;
    case 1: return input_.u8();
    case 2: return std::uint64_t{1} << (input_.u8() & 63);
    case 3: return ~std::uint64_t{0};
    case 4: return (std::uint64_t{1} << (input_.u8() & 63)) - 1;
    default: return input_.u64();
  }
}

wire::ConnectionId HostilePackets::own_id() {
  return wire::connection_id(world_.slot(slot_).local.value_or(Qpn{}));
}
wire::ConnectionId HostilePackets::peer_id() {
  return wire::connection_id(world_.slot(slot_).remote);
}

// Near both ends of a region, and around the end of all addresses.
wire::Reth HostilePackets::reth(std::uint32_t length) {
  const World::Keys& keys = world_.keys();
  const std::uint8_t choice = input_.u8();
  wire::Reth made{.virtual_address = World::kOpenAddress, .rkey = keys.open};
  std::uint64_t size = GuardedMemory::kOpenSize;
  if (choice >= 0xe0) {
    const std::array others{keys.read_only, keys.elsewhere, keys.gone, RKey(input_.u32())};
    made.rkey = others[choice % others.size()];
  }
  if (made.rkey == keys.read_only || made.rkey == keys.elsewhere) {
    made.virtual_address = World::kClosedAddress;
    size = GuardedMemory::kClosedSize;
  }
  switch (choice % 8) {
    case 0:
    case 1:
    case 2: made.virtual_address += input_.u8() * std::uint64_t{3}; break;  // inside
    case 3: made.virtual_address += static_cast<std::uint64_t>(input_.small()); break;
    case 4: made.virtual_address += size - length; break;
    case 5:
      made.virtual_address += size - length + static_cast<std::uint64_t>(input_.small());
      break;
    case 6: made.virtual_address = static_cast<std::uint64_t>(input_.small()); break;  // both ends
    default: made.virtual_address = input_.u64(); break;
  }
  made.dma_length = length;
  return made;
}

wire::Packet HostilePackets::write() {
  choose_slot();
  const std::uint8_t flags = input_.u8();
  // Up to one byte more than fits.
  const std::uint32_t length = 1 + input_.u8() % (kMtu + 1);
  const std::size_t start = input_.u8();
  wire::RdmaWrite made{
      .destination_qp = destination(),
      .psn = near_arrivals(),
      .ack_request = (flags & 1) != 0,
      .retransmission = (flags & 2) != 0,
      .part = wire::MessagePart::of(wire::kOpcodes[(flags >> 4) % 6u], wire::Immediate(flags)),
      .sent = (flags & 4) != 0 ? std::optional(wire::TxTimestamp{.ticks = 77}) : std::nullopt,
      .reth = reth(length),
      .payload = wire::Payload::of_bytes(ConstBytes(payload_memory()).subspan(start, length))};
  if ((flags & 8) != 0) made.reth.dma_length += input_.u16();
  if (made.part.immediate()) {
    made.meth.rqmsn = Rqmsn(world_.slot(slot_).immediates_received) + input_.small();
  }
  return from_peer(made);
}

wire::Packet HostilePackets::trimmed_write() {
  choose_slot();
  const std::uint8_t flags = input_.u8();
  return from_peer(wire::TrimmedWrite{
      .place = (flags & 1) != 0 ? wire::TrimPlace::kLastHop : wire::TrimPlace::kOnPath,
      .destination_qp = destination(),
      .psn = near_arrivals(),
      .ack_request = (flags & 2) != 0,
      .retransmission = (flags & 4) != 0});
}

wire::Packet HostilePackets::acknowledge() {
  constexpr std::array kSyndromes{
      wire::AckSyndrome::kAck,
      wire::AckSyndrome::kNakSequenceError,
      wire::AckSyndrome::kNakInvalidRequest,
      wire::AckSyndrome::kNakRemoteAccess,
      wire::AckSyndrome::kNakRemoteOperation,
  };
  choose_slot();
  const std::uint8_t choice = input_.u8();
  // Three of four acknowledge.
  const auto syndrome = choice < 0xc0 ? kSyndromes[0] : kSyndromes[choice % kSyndromes.size()];
  return from_peer(wire::Acknowledge{
      .destination_qp = destination(),
      .psn = near_sent(),
      .aeth = {.syndrome = syndrome,
               .msn = AckMsn(world_.slot(slot_).writes_completed) + input_.small()}});
}

wire::Packet HostilePackets::sack() {
  choose_slot();
  const std::uint8_t flags = input_.u8();
  const std::uint8_t mark = input_.u8();
  wire::Sack made{.destination_qp = destination(), .retransmission = (flags & 1) != 0};
  made.seth = {
      .mark = static_cast<wire::PathMark>(mark % 3),
      .trigger = (flags & 2) != 0
                     ? wire::SackTrigger::probe(wire::ProbeId(
                           static_cast<std::uint16_t>(world_.last_probe_id() + input_.small())))
                     : wire::SackTrigger::packet(static_cast<std::int16_t>(input_.small())),
      .entropy = entropy(),
      .spdcid = (flags & 0xf0) == 0xf0 ? own_id() : peer_id(),
      .dpdcid = (flags & 0xf0) == 0xe0 ? peer_id() : own_id(),
      .cack_psn = near_sent(),
      .mpr = (flags & 4) != 0 ? input_.u8() : std::uint8_t{0},
      .sack_offset = static_cast<std::int16_t>((mark & 0x80) != 0 ? input_.u16() : 1),
      .sack_bitmap = bitmap()};
  if ((flags & 8) != 0) {
    made.cc_state = {.ooo_count = static_cast<std::uint16_t>(input_.u16() & 0x7fff),
                     .restore_cwnd = input_.flag(),
                     .receiver_penalty = static_cast<std::uint8_t>(input_.u8() & 0x7f),
                     .received_units = input_.u32() & wire::kReceivedUnitsMask};
  }
  return from_peer(made);
}

wire::Packet HostilePackets::nack() {
  choose_slot();
  const std::uint8_t choice = input_.u8();
  const World::Sent& recent = world_.recent_data(choice / 16u);
  const bool refuses_recent = input_.flag();
  const std::uint8_t ids = input_.u8();
  const auto reason = wire::kNackReasons[choice % wire::kNackReasons.size()];
  wire::Nack made{.destination_qp = destination()};
  made.neth = {.reason = reason,
               .entropy = refuses_recent ? recent.ev : entropy(),
               .spdcid = ids == 0xff ? own_id() : peer_id(),
               .dpdcid = ids == 0xfe ? peer_id() : own_id(),
               .psn = refuses_recent ? recent.psn : near_sent()};
  return from_peer(made);
}

wire::Packet HostilePackets::probe() {
  choose_slot();
  const std::uint8_t ids = input_.u8();
  wire::ReliabilityProbe made{.destination_qp = destination()};
  made.peth = {.id = wire::ProbeId(input_.u8()),
               .spdcid = ids == 0xff ? own_id() : peer_id(),
               .dpdcid = ids == 0xfe ? peer_id() : own_id()};
  return from_peer(made);
}

wire::Packet HostilePackets::endpoint_request() {
  choose_slot();
  const std::uint8_t choice = input_.u8();
  return from_peer(wire::EndpointRequest{
      .id = wire::EndpointRequestId(choice),
      .erth = {.op = (choice & 1) != 0 ? wire::EndpointOp::kPortStatusUpdate
                                       : wire::EndpointOp::kEvProbe,
               .port_status_mask = (choice & 2) != 0 ? input_.u32() : input_.u8() & 7u}});
}

wire::Packet HostilePackets::endpoint_response() {
  choose_slot();
  const std::uint8_t choice = input_.u8();
  const auto id = static_cast<std::uint16_t>(world_.last_request_id() + input_.small());
  return from_peer(
      wire::EndpointResponse{.id = wire::EndpointRequestId(id),
                             .eeth = {.op = (choice & 1) != 0 ? wire::EndpointOp::kPortStatusUpdate
                                                              : wire::EndpointOp::kEvProbe}});
}

wire::Packet HostilePackets::arbitrary() {
  choose_slot();
  Rng rng(input_.u32());
  const auto numbers = test::random_choices(rng);
  test::Choices choices(numbers);
  const std::uint8_t choice = input_.u8();
  plane_ = choice % kPlanes;
  wire::Packet packet = test::arbitrary_packet(choices);
  if ((choice & 2) == 0) packet.transport.pkey = wire::kPKeyDefault;
  if ((choice & 4) == 0) packet.route = addressed(packet.transport.body).route;
  if ((choice & 8) == 0) {
    const Qpn to = world_.slot(slot_).local.value_or(kFirstUsableQpn);
    std::visit(
        [&](auto& body) {
          if constexpr (requires { body.destination_qp; }) body.destination_qp = to;
        },
        packet.transport.body);
  }
  return packet;
}

wire::Packet HostilePackets::plain(std::size_t slot, const wire::Body& body) {
  slot_ = slot;
  plane_ = 0;
  return addressed(body);
}

wire::Packet HostilePackets::honest_sack(std::size_t slot) {
  slot_ = slot;
  plane_ = 0;
  wire::Sack made{.destination_qp = world_.slot(slot_).local.value_or(kFirstUsableQpn)};
  made.seth = {.entropy = world_.recent_data(0).ev, .spdcid = peer_id(), .dpdcid = own_id()};
  if (const QueuePair* qp = world_.queue_pair(slot_)) {
    made.seth.cack_psn = (qp->requestor.window().next() - 1).wrapped();
  }
  return addressed(made);
}

wire::Packet HostilePackets::honest_acknowledge(std::size_t slot) {
  slot_ = slot;
  plane_ = 0;
  const Slot& to = world_.slot(slot_);
  wire::Acknowledge made{.destination_qp = to.local.value_or(kFirstUsableQpn)};
  std::uint32_t sent = to.writes_completed;
  for (const PostedWrite& write : to.writes) sent += write.packets_sent == write.packets ? 1 : 0;
  made.aeth.msn = AckMsn(sent);
  if (const QueuePair* qp = world_.queue_pair(slot_)) {
    made.psn = (qp->requestor.window().next() - 1).wrapped();
  }
  return addressed(made);
}

}  // namespace openmrc::fuzz
