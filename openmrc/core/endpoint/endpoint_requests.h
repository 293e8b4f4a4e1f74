// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/core/context/work.h"
#include "openmrc/core/endpoint/asked_requests.h"
#include "openmrc/core/endpoint/endpoint_responses.h"
#include "openmrc/core/endpoint/endpoint_state.h"
#include "openmrc/core/endpoint/path_probes.h"
#include "openmrc/core/endpoint/send_queue.h"

namespace openmrc::core {

// What endpoints ask each other, from queue pair 0x2 to queue pair 0x2 (MRC 7.3): EV probes and
// port status. They carry no connection, so what arrives can do little: a probe is answered, and a
// port status counts only if it comes from a peer we have. PathProbes sends the probes.
class EndpointRequests {
 public:
  EndpointRequests(EndpointState& state, SendQueue& sending, PathProbes& probes,
                   EndpointResponses& responses, std::uint16_t first_id)
      : state_(state),
        sending_(sending),
        probes_(probes),
        responses_(responses),
        port_status_id_(state.context.settings.request_ids.upper(first_id)),
        asked_(first_id, state.context.settings.request_ids) {}

  void receive(Instant now, Plane plane, const wire::Packet& packet,
               const wire::EndpointRequest& request);
  void receive(Instant now, Plane arrived_by, const wire::Packet& packet,
               const wire::EndpointResponse& response);

  // Of a path to the peer of a connected queue pair; the answer is an event with `tag`. False, here
  // and below: too many answers are awaited, or too many packets wait to be sent.
  bool probe_path(Instant now, const Connection& connection, EvIndex ev, std::uint32_t tag);
  // Of a path of the caller's choice.
  bool send(Instant now, const DirectRequest& request);
  // One that waits to be sent; null if there is none. It is forgotten when it has left.
  [[nodiscard]] const DirectRequest* find_direct(std::uint16_t id);
  void forget_direct(std::uint16_t id);

  // MRC 7.4.8: a local port has changed: a new update, with a number of its own.
  void next_port_status();
  // The peer is notified of it.
  void report_port_status(PeerIndex index, Peer& peer, Instant now);
  // Repeats it if that is due.
  void time_out(PeerIndex index, Peer& peer, Instant now);

 private:
  [[nodiscard]] bool apply_port_status(Instant now, const wire::Ipv6Address& source,
                                       const wire::EndpointRequest& request);
  [[nodiscard]] bool is_newer(Instant now, Peer& peer, wire::EndpointRequestId id) const;
  void repeat_port_status(PeerIndex index, Peer& peer, Instant now);
  bool take_status_answer(Instant now, const wire::Ipv6Address& source, wire::EndpointRequestId id);
  bool take_asked_answer(Instant now, Plane arrived_by, const wire::Ipv6Address& source,
                         wire::EndpointRequestId id);

  EndpointState& state_;
  SendQueue& sending_;
  PathProbes& probes_;
  EndpointResponses& responses_;
  wire::EndpointRequestId port_status_id_;  // of the latest, to all peers
  AskedRequests asked_;
};

}  // namespace openmrc::core
