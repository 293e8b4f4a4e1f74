// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "openmrc/core/endpoint/connections.h"
#include "openmrc/core/endpoint/datagrams.h"
#include "openmrc/core/endpoint/endpoint_requests.h"
#include "openmrc/core/endpoint/endpoint_state.h"
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

  void handle(Instant now, Plane plane, const wire::Packet& packet);

 private:
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
  void handle_feedback(Instant now, Plane plane, const wire::Packet& packet);
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
