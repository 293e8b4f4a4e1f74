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
#include "openmrc/core/containers/pool_list.h"
#include "openmrc/core/containers/timer_queue.h"
#include "openmrc/core/context/settings.h"
#include "openmrc/core/paths/ev_prober.h"
#include "openmrc/core/paths/path_set.h"
#include "openmrc/core/paths/plane_mask.h"
#include "openmrc/core/paths/reverse_paths.h"
#include "openmrc/wire/field/constants.h"
#include "openmrc/wire/field/ip_address.h"
#include "openmrc/wire/packet.h"

namespace openmrc::core {

using PeerIndex = std::uint32_t;

// The order in which packets were sent to a peer, and the latest of them that arrived, over all
// paths and over each. Packets on one path stay in order, those on different paths nearly so: what
// was sent well before something that has arrived, and has not arrived itself, is lost. Allocated
// when something is sent and released when the peer falls idle.
struct PathFlight {
  struct OnEv {
    std::uint32_t latest = 0;  // order of the latest that has arrived
    std::uint8_t sent = 0;     // how many were sent, wrapping
    std::uint8_t settled = 0;  // how many have arrived or are declared lost, wrapping
    Instant heard{};           // when something that took it was last known to have arrived
  };
  std::array<OnEv, kEvsPerProfileMax> on_ev{};
};

// A destination: all that its queue pairs share. Paths and congestion belong to the way there, not
// to a queue pair, so what one learns serves all, and the memory of an idle queue pair is small.
struct Peer {
  Peer(const EvProfile& profile, const CongestionSettings& congestion_settings, std::uint64_t seed,
       std::uint8_t ev_burst = 1, PathPolicy policy = PathPolicy::kSpray)
      : paths(profile, seed, ev_burst, policy),
        reverse(profile.planes()),
        congestion(congestion_settings) {}

  // MRC 8: whether so many more bytes may be in flight. One packet always may, however small the
  // window: without feedback it could never open again.
  [[nodiscard]] bool may_send(ByteCount size) const {
    return in_flight + size <= congestion.window() || in_flight <= ByteCount(0);
  }

  // Data is on its way, and nothing has come back for long: no path is known to work.
  [[nodiscard]] bool is_silent(Instant now) const {
    return in_flight > ByteCount(0) && last_feedback + congestion.rtt() * kSilentRoundTrips < now;
  }

  // Four reliability probes have had no answer by then; a loss alone does not make it so long.
  static constexpr std::int64_t kSilentRoundTrips = 8;

  PathSet paths;
  ReversePaths reverse;
  CongestionControl congestion;
  ByteCount in_flight{};
  std::uint32_t send_order = 0;     // of the latest packet sent
  std::uint32_t arrived_order = 0;  // of the latest packet that has arrived
  Instant arrived_sent{};           // and when it was sent
  Instant reorder_changed{};        // when reorder_quarters was
  std::unique_ptr<PathFlight> flight;
  bool has_gap = false;  // a packet arrived before another that was sent earlier on the same path
  bool is_ipv4 = false;  // how to reach it
  bool is_srv6 = false;
  // How late a packet may be, in quarters of a round trip.
  static constexpr std::uint8_t kReorderQuartersMin = 3;
  std::uint8_t reorder_quarters = kReorderQuartersMin;

  struct RemoteStatus {
    Instant when{};
    std::uint16_t id = 0;  // of the request that said so
  };
  std::vector<RemoteStatus> remote_statuses{};  // the latest of each endpoint of the peer's
  PlaneMask remote_ports = PlaneMask::all();    // as the peer says (MRC 7.4.8)
  std::vector<wire::Ipv6Address> addresses;     // one for each plane
  wire::Ipv6Address path_overlay{};             // added to the outer address of every SRv6 path
  EvProfileId ev_profile{};
  CcProfileId cc_profile{};
  std::uint32_t serial = 0;       // no two peers of an endpoint have the same
  std::uint32_t queue_pairs = 0;  // that are connected
  PoolList waiting;               // queue pairs that wait for the window

  EvProber prober;
  Timer timer;
  Instant last_heard{};     // any packet that was accepted
  Instant last_feedback{};  // what was accepted of SACKs, NACKs and acknowledgements
  Instant last_sent{};      // data
  Instant next_refresh{};   // of the reverse paths
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

// Tells the peer's paths what happened to one of them, and everybody who has to know: prober,
// reverse paths, watchers, counters.
void change_ev(Context& context, PeerIndex index, Peer& peer, EvIndex ev, EvInput input,
               Instant now);

// What a packet weighs in the network: UDP length + 40 (MRC 8, UET 3.6.12).
constexpr ByteCount nominal_size(std::uint32_t payload_size, bool has_immediate) {
  constexpr std::int64_t kHeaders = 40 + 8 + 12 + 4 + 4 + 16 + 4;  // IPv6 to RETH, and ICRC
  return ByteCount(kHeaders + ((payload_size + 3) & ~std::uint32_t{3}) + (has_immediate ? 4 : 0));
}

// Whether transmission `a` came before `b`, wrapping.
constexpr bool sent_before(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b) < 0;
}

}  // namespace openmrc::core
