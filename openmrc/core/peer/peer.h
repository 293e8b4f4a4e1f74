// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/base/quantity.h"
#include "openmrc/base/time.h"
#include "openmrc/core/congestion/congestion.h"
#include "openmrc/core/congestion/fair_share.h"
#include "openmrc/core/containers/pool_list.h"
#include "openmrc/core/containers/timer_queue.h"
#include "openmrc/core/context/settings.h"
#include "openmrc/core/paths/path_health.h"
#include "openmrc/core/paths/path_set.h"
#include "openmrc/core/paths/plane_mask.h"
#include "openmrc/core/paths/reverse_paths.h"
#include "openmrc/core/paths/reverse_probes.h"
#include "openmrc/core/peer/awaited_probes.h"
#include "openmrc/core/peer/base_rtt_probes.h"
#include "openmrc/core/peer/loss_detector.h"
#include "openmrc/core/peer/peer_index.h"
#include "openmrc/core/peer/port_claims.h"
#include "openmrc/wire/field/constants.h"
#include "openmrc/wire/field/ip_address.h"
#include "openmrc/wire/packet.h"

namespace openmrc::core {

// A destination: all that its queue pairs share. Paths and congestion belong to the way there, not
// to a queue pair, so what one learns serves all, and the memory of an idle queue pair is small.
// CC-1, PATH-11
struct Peer {
  Peer(const EvProfile& profile, const CongestionSettings& congestion_settings, std::uint64_t seed,
       std::uint8_t ev_burst = 1, PathPolicy policy = PathPolicy::kSpray)
      : paths(profile, seed, ev_burst, policy),
        reverse(profile.planes(), ev_burst),
        reverse_probes(profile.planes()),
        congestion(congestion_settings) {}

  // MRC 8: whether so many more bytes may be in flight. One packet always may, however small the
  // window: without feedback it could never open again (CC-2, CC-3).
  [[nodiscard]] bool may_send(ByteCount size) const {
    return in_flight + size <= congestion.window() || nothing_moves();
  }
  [[nodiscard]] bool nothing_moves() const { return in_flight <= ByteCount(0) || network_is_empty; }

  // Data is on its way, and nothing has come back for long: no path is known to work.
  [[nodiscard]] bool is_silent(Instant now) const {
    return in_flight > ByteCount(0) && last_feedback + congestion.rtt() * kSilentRoundTrips < now;
  }

  // An EV of the plane is known to work for control packets.
  void confirm_reverse(EvIndex ev, Plane plane, Instant now) {
    reverse.confirm(ev, plane, now, congestion.base_rtt());
    reverse_probes.confirm(plane);
  }
  [[nodiscard]] std::optional<PathSet::Choice> choose_reverse(Instant now, PlaneMask ports) {
    return reverse.choose(now, paths, ports, reverse_probes.silent());
  }

  // A packet is missing on the path.
  [[nodiscard]] PathHealth::Missing missing_on(PathIndex path, Instant now) const {
    return {
        .path = path, .delivered = losses.settled(path), .now = now, .rtt = congestion.base_rtt()};
  }

  // Four reliability probes have had no answer by then; a loss alone does not make it so long.
  // PATH-52
  static constexpr std::int64_t kSilentRoundTrips = 8;

  PathSet paths;
  ReversePaths reverse;
  ReverseProbes reverse_probes;
  CongestionControl congestion;
  ByteCount in_flight{};
  // What is in flight has left the network: a probe that was sent long after it was answered. Which
  // packets have arrived is not known, because the answer does not show all of them (REL-68).
  bool network_is_empty = false;
  LossDetector losses;
  ReceivedShare received;  // by this end
  bool is_ipv4 = false;    // how to reach it
  bool is_srv6 = false;

  struct RemoteStatus {
    Instant when{};
    std::uint16_t id = 0;  // of the request that said so
  };
  std::vector<RemoteStatus> remote_statuses{};  // the latest of each endpoint of the peer's
  PlaneMask remote_ports = PlaneMask::all();    // that are up, as far as is known (MRC 7.4.8)
  PortClaims claims;                            // what the peer says to the contrary
  std::vector<wire::Ipv6Address> addresses;     // one for each plane
  wire::Ipv6Address path_overlay{};             // added to the outer address of every SRv6 path
  EvProfileId ev_profile{};
  CcProfileId cc_profile{};
  std::uint32_t serial = 0;       // no two peers of an endpoint have the same
  std::uint32_t queue_pairs = 0;  // that are connected
  PoolList waiting;               // queue pairs that wait for the window

  PathHealth health;
  BaseRttProbes base_rtt_probes;
  std::shared_ptr<AwaitedProbes> probes;  // shared by all destinations with the same addresses
  Timer timer;
  Instant last_heard{};     // any packet that was accepted
  Instant last_feedback{};  // what was accepted of SACKs, NACKs and acknowledgements
  Instant last_sent{};      // data
  Instant next_refresh{};   // of the reverse paths
  Instant next_search{};    // for reverse paths, at the earliest
  Instant next_probe{};     // the first time at which no reliability probe has its place yet

  // MRC 7.4.8: our ports as the peer shall learn them, until it has answered.
  struct PortStatus {
    bool unanswered = false;
    wire::EndpointRequestId id{};
    Duration interval{};  // to the next repeat; doubles
    Instant next = kNever;
  };
  PortStatus port_status{};
};

struct Context;

// Begins to keep track of what is in flight to the peer.
void start_flight(Context& context, PeerIndex index, Peer& peer, Instant now);
// Stops if nothing has been sent for long; returns whether it has stopped.
bool end_flight_if_idle(Peer& peer, Instant now);

// For the next time at which something is due for the peer.
void arm_timer(Context& context, PeerIndex index, Peer& peer);

// Tells the peer's paths what happened to one of them, and everybody who has to know: prober,
// reverse paths, watchers, counters.
void change_ev(Context& context, PeerIndex index, Peer& peer, EvIndex ev, EvInput input,
               Instant now);

// What a packet weighs in the network: UDP length + 40 (MRC 8; CC-6, UET 3.6.12).
constexpr ByteCount nominal_size(std::uint32_t payload_size, bool has_immediate) {
  constexpr std::int64_t kHeaders = 40 + 8 + 12 + 4 + 4 + 16 + 4;  // IPv6 to RETH, and ICRC
  return ByteCount(kHeaders + ((payload_size + 3) & ~std::uint32_t{3}) + (has_immediate ? 4 : 0));
}

}  // namespace openmrc::core
