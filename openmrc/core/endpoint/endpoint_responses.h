// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "openmrc/core/containers/growing_ring.h"
#include "openmrc/core/context/peer_shares.h"
#include "openmrc/core/endpoint/endpoint_state.h"
#include "openmrc/core/endpoint/request_limiter.h"
#include "openmrc/core/endpoint/transmit.h"

namespace openmrc::core {

// The answers to endpoint requests (MRC 7.3) that wait to be sent. A request carries no connection,
// so anybody can ask for one: they are limited, and take turns with data (REL-90, REL-95).
class EndpointResponses {
 public:
  explicit EndpointResponses(EndpointState& state)
      : state_(state),
        unknown_(derived(state.context.settings.secret.value_or(SecretNumbers::Key{}),
                         RequestLimiter::kSecretPurpose)) {}

  // Whether a request of that host may be answered now.
  [[nodiscard]] bool admits(const wire::Ipv6Address& source, Instant now);
  // To a request that came by that plane and was admitted.
  void queue(Plane plane, const wire::Ipv6Address& source, Ev ev,
             const wire::EndpointRequest& request);

  // The next one. If no port is free for it, it goes to the end of the queue.
  [[nodiscard]] ControlSent send(Instant now, PlaneMask ports, Transmit& out);

  [[nodiscard]] bool empty() const { return waiting_.empty(); }
  [[nodiscard]] std::size_t size() const { return waiting_.size(); }

 private:
  struct Response {
    wire::EndpointOp op{};
    Plane plane{};                                  // that the request came by
    std::uint16_t id = 0;                           // of the request
    std::uint16_t tx_ticks = 0;                     // timestamp to give back
    PeerShares::Share share = PeerShares::kNoPeer;  // whose part of the queue it takes
    Ev ev{};                                        // that the request took
    wire::Ipv6Address address{};                    // whom to answer
  };

  [[nodiscard]] PeerShares::Share share_of(const wire::Ipv6Address& source);
  [[nodiscard]] ControlSent fill(Instant now, PlaneMask ports, const Response& response,
                                 Transmit& out);
  void set_return_route(Transmit& out) const;

  EndpointState& state_;
  GrowingRing<Response> waiting_;
  PeerShares shares_;
  RequestLimiter unknown_;  // requests of hosts that are no peers
};

}  // namespace openmrc::core
