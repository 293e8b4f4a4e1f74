// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <variant>

#include "openmrc/base/check.h"
#include "openmrc/core/endpoint/connections.h"
#include "openmrc/core/endpoint/datagrams.h"
#include "openmrc/core/endpoint/endpoint_requests.h"
#include "openmrc/core/endpoint/endpoint_state.h"
#include "openmrc/core/endpoint/prefetch.h"
#include "openmrc/core/endpoint/send_queue.h"

namespace openmrc::core {

// What arrives. Everything here may come from any host: it is checked before it is accepted, and
// what is not accepted is counted by reason.
class Receiver {
 public:
  Receiver(EndpointState& state, SendQueue& sending, PathProbes& probes, EndpointRequests& requests,
           Connections& connections, Datagrams& datagrams)
      : state_(state),
        sending_(sending),
        probes_(probes),
        requests_(requests),
        connections_(connections),
        datagrams_(datagrams) {}

  void handle(Instant now, Plane plane, const wire::Packet& packet) {
    OPENMRC_CHECK(plane.raw() < state_.planes(), "no such port");
    // QP-14
    if (packet.transport.pkey != state_.context.settings.pkey) {
      return state_.context.counters.add(Count::kDropPKey);
    }
    const wire::Body& body = packet.transport.body;
    if (const auto* write = std::get_if<wire::RdmaWrite>(&body)) {
      return receive(now, plane, packet, *write);
    }
    if (const auto* sack = std::get_if<wire::Sack>(&body)) {
      return receive(now, plane, packet, *sack);
    }
    handle_other(now, plane, packet);
  }

  // Many: each is a `packet`, and the `plane` by whose port it came.
  template <class Arrived>
  void handle_many(Instant now, std::span<const Arrived> packets) {
    // How far ahead: long enough for memory to answer, not so long that it is gone again.
    constexpr std::size_t kStep = 4;
    if (packets.size() < kStep) {
      for (const Arrived& one : packets) handle(now, one.plane, one.packet);
      return;
    }
    const Prefetch prefetch(state_);
    const auto ahead = [&](std::size_t i) {
      return state_.queue_pairs.named(destination_of(packets[i].packet.transport.body));
    };
    for (std::size_t i = 0; i < packets.size() + 3 * kStep; ++i) {
      if (i < packets.size()) Prefetch::queue_pair(ahead(i));
      if (i >= kStep && i - kStep < packets.size()) prefetch.peer(ahead(i - kStep));
      if (i >= 2 * kStep && i - 2 * kStep < packets.size()) prefetch.flight(ahead(i - 2 * kStep));
      if (i < 3 * kStep) continue;
      handle(now, packets[i - 3 * kStep].plane, packets[i - 3 * kStep].packet);
    }
  }

 private:
  // Of the kinds that most packets are of; otherwise none that there is.
  static Qpn destination_of(const wire::Body& body) {
    if (const auto* write = std::get_if<wire::RdmaWrite>(&body)) return write->destination_qp;
    if (const auto* sack = std::get_if<wire::Sack>(&body)) return sack->destination_qp;
    if (const auto* ack = std::get_if<wire::Acknowledge>(&body)) return ack->destination_qp;
    return {};
  }

  [[nodiscard]] QueuePair* receiver_of(Qpn qpn, Plane plane, const wire::Packet& packet);
  void receive(Instant now, Plane plane, const wire::Packet& packet, const wire::RdmaWrite& write);
  void receive(Instant now, Plane plane, const wire::Packet& packet,
               const wire::TrimmedWrite& trimmed);
  void receive(Instant now, Plane plane, const wire::Packet& packet,
               const wire::ReliabilityProbe& probe);
  void receive(Instant now, Plane plane, const wire::Packet& packet, const wire::Sack& sack);
  void receive(Instant now, Plane plane, const wire::Packet& packet, const wire::Nack& nack);
  void receive(Instant now, Plane plane, const wire::Packet& packet,
               const wire::Acknowledge& acknowledge);
  void receive(Instant, Plane plane, const wire::Packet& packet, const wire::UdSend& datagram) {
    datagrams_.receive(plane, packet, datagram);
  }
  template <class Body>
  void receive(Instant now, Plane plane, const wire::Packet& packet, const Body& body) {
    requests_.receive(now, plane, packet, body);
  }
  void handle_other(Instant now, Plane plane, const wire::Packet& packet);
  void answer_from_error(QueuePair& qp, UnwrappedPsn psn, Ev ev);
  void refuse(QueuePair& qp, const Responder::Refusal& refusal, Instant now);
  void after_feedback(QueuePair& qp, const std::optional<Fatal>& fatal, Instant now);
  [[nodiscard]] ArrivalInfo arrival_info(Plane plane, const wire::Packet& packet) const;

  EndpointState& state_;
  SendQueue& sending_;
  PathProbes& probes_;
  EndpointRequests& requests_;
  Connections& connections_;
  Datagrams& datagrams_;
};

}  // namespace openmrc::core
