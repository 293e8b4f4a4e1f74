// SPDX-License-Identifier: BSD-3-Clause
#include "tests/world/forger.h"

#include <algorithm>
#include <variant>

namespace openmrc::test {
namespace {

template <class Kind>
concept HasQueuePair = requires(Kind body) { body.destination_qp; };

void set_queue_pair(wire::Body& body, Qpn qpn) {
  std::visit(
      [&]<class Kind>(Kind& of_its_kind) {
        if constexpr (HasQueuePair<Kind>) of_its_kind.destination_qp = qpn;
      },
      body);
}

void set_connection(wire::Body& body, wire::ConnectionId id) {
  if (auto* sack = std::get_if<wire::Sack>(&body)) sack->seth.dpdcid = id;
  if (auto* nack = std::get_if<wire::Nack>(&body)) nack->neth.dpdcid = id;
  if (auto* probe = std::get_if<wire::ReliabilityProbe>(&body)) probe->peth.dpdcid = id;
}

}  // namespace

Forger::Forger(const WorldOptions& options) : options_(&options), rng_(Rng(options.seed).fork(2)) {
  for (std::byte& byte : payload_) byte = static_cast<std::byte>(rng_.next());
}

std::optional<core::Transmit> Forger::forge(Instant now, Side side, const core::Transmit& seen) {
  for (const Fault& fault : options_->faults) {
    if (fault.kind != FaultKind::kForge || (fault.side && *fault.side != side)) continue;
    if (now < Instant{} + fault.from || now >= Instant{} + fault.to) continue;
    if (now < next_[index_of(side)] || !rng_.chance(fault.chance)) continue;
    next_[index_of(side)] = now + kInterval;
    return imitate(seen, static_cast<Forgery>(fault.amount));
  }
  return std::nullopt;
}

core::Transmit Forger::imitate(const core::Transmit& seen, Forgery forgery) {
  core::Transmit forged = seen;
  wire::Body& body = forged.packet.transport.body;
  if (auto* write = std::get_if<wire::RdmaWrite>(&body)) {
    write->payload = wire::Payload::of_bytes(ConstBytes(payload_).first(write->payload.size()));
  }
  const auto number = [&] { return static_cast<std::uint32_t>(rng_.next()); };
  switch (forgery) {
    case Forgery::kQueuePair: set_queue_pair(body, Qpn(number() & Qpn::kMax)); break;
    case Forgery::kSource:
      std::get<wire::Ipv6Route>(forged.packet.route).source.bytes[15] ^= std::byte{0x40};
      break;
    case Forgery::kPartition: forged.packet.transport.pkey = PKey(0x8123); break;
    case Forgery::kConnection:
      set_connection(body, wire::ConnectionId(static_cast<std::uint16_t>(number())));
      // Others do not say which connection is theirs.
      if (std::holds_alternative<wire::RdmaWrite>(body) ||
          std::holds_alternative<wire::TrimmedWrite>(body) ||
          std::holds_alternative<wire::Acknowledge>(body)) {
        set_queue_pair(body, Qpn(number() & Qpn::kMax));
      }
      break;
    case Forgery::kPortStatus:
      body = wire::EndpointRequest{
          .id = wire::EndpointRequestId(static_cast<std::uint16_t>(number())),
          .erth = {.op = wire::EndpointOp::kPortStatusUpdate, .port_status_mask = number()}};
      break;
    case Forgery::kCount: acknowledge_more(body); break;
    case Forgery::kResponse:
      body = wire::EndpointResponse{
          .id = wire::EndpointRequestId(static_cast<std::uint16_t>(number())), .eeth = {}};
      break;
  }
  return forged;
}

// What a SACK or an acknowledgement of the host acknowledges, and some packets more.
void Forger::acknowledge_more(wire::Body& body) {
  wire::Acknowledge forged;
  if (const auto* sack = std::get_if<wire::Sack>(&body)) {
    forged = {.destination_qp = sack->destination_qp, .psn = sack->seth.cack_psn};
  } else if (const auto* acknowledge = std::get_if<wire::Acknowledge>(&body)) {
    forged = *acknowledge;
  } else {
    return set_queue_pair(body, Qpn{});  // nothing to learn from; of no use
  }
  constexpr std::int64_t kTrueMax = 1 << 12;  // no connection of a world has more messages
  forged.psn = forged.psn + static_cast<std::int64_t>(rng_.between(1, 64));
  const auto guess = static_cast<std::int64_t>(rng_.between(kTrueMax, AckMsn::kMask - kTrueMax));
  forged.aeth = {.syndrome = wire::AckSyndrome::kAck, .msn = AckMsn{} + guess};
  body = forged;
}

}  // namespace openmrc::test
