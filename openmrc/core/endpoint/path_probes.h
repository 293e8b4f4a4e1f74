// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "openmrc/core/endpoint/endpoint_state.h"
#include "openmrc/core/endpoint/send_queue.h"

namespace openmrc::core {

// The EV probes that an endpoint sends of its own accord: when, and what follows from their answers
// (MRC 7.4.7).
class PathProbes {
 public:
  PathProbes(EndpointState& state, SendQueue& sending, std::uint16_t first_id)
      : state_(state), sending_(sending), first_id_(first_id) {}

  // The number that the first request to each host has.
  [[nodiscard]] std::uint16_t first_id() const { return first_id_; }
  // For a new destination with these addresses.
  [[nodiscard]] std::shared_ptr<AwaitedProbes> probes_to(
      const std::vector<wire::Ipv6Address>& addresses);

  // False if it answers none of them.
  bool take_answer(Instant now, const wire::Ipv6Address& source, wire::EndpointRequestId id);

  // Whatever is due for the peer.
  void time_out(PeerIndex index, Peer& peer, Instant now);
  // We do not hear the peer, or it does not hear us: the paths in use may be the wrong ones.
  void hurry(PeerIndex index, Peer& peer, Instant now);
  // MRC 9.3.1: who receives and does not send learns nothing about the way back from SACKs, so it
  // probes one path in every round trip in which something arrives (PATH-70).
  void refresh_reverse_paths(Instant now, PeerIndex index, Peer& peer);
  // A reliability probe says that the peer hears nothing (MRC 7.4.6): the paths of our control
  // packets may have failed, or it has lost what it sent. Its answer takes several paths, and
  // several are probed, so that one that works is found in one round trip and not in one for each
  // path. Once in a round trip, however many queue pairs ask (PATH-74).
  void search_reverse_paths(Instant now, PeerIndex index, Peer& peer);
  // A port of ours or of the peer is back: while it was away its paths were probed ever more
  // rarely.
  void start_again(PeerIndex index, Peer& peer, Plane plane, Instant now);
  // MRC 7.4.8: whether ports are down that the peer says are.
  void probe_ports(PeerIndex index, Peer& peer, Instant now);

  // Sends one. False: too many packets wait to be sent.
  bool queue(PeerIndex index, const Peer& peer, const PathSet::Choice& path,
             wire::EndpointRequestId id);

 private:
  // When the next probe of a kind that is sent once in each round trip is due.
  [[nodiscard]] Instant after_round_trip(Instant now, PeerIndex index, Peer& peer);
  void take_path_answer(Instant now, const AwaitedProbe& awaited, Peer& peer);
  void take_base_rtt(Instant now, const AwaitedProbe& awaited, Peer& peer);
  void take_port_answer(Instant now, PeerIndex index, Peer& peer, Plane plane);
  void probe_paths(PeerIndex index, Peer& peer, Instant now);
  void probe_base_rtt(PeerIndex index, Peer& peer, Instant now);
  void probe_ev(PeerIndex index, const Peer& peer, const PathSet::Choice& path,
                AwaitedProbe::Kind kind);

  EndpointState& state_;
  SendQueue& sending_;
  std::uint16_t first_id_;
};

}  // namespace openmrc::core
