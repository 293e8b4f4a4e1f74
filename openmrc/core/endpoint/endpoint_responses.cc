// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/endpoint_responses.h"

#include <variant>

#include "openmrc/core/context/limits.h"
#include "openmrc/core/endpoint/route.h"

namespace openmrc::core {

PeerShares::Share EndpointResponses::share_of(const wire::Ipv6Address& source) {
  PeerShares::Share share = PeerShares::kNoPeer;
  state_.peers.visit_address(source, [&](PeerIndex index, const Peer&) {
    share = PeerShares::of(index);
    return false;
  });
  return share;
}

bool EndpointResponses::admits(const wire::Ipv6Address& source, Instant now) {
  const PeerShares::Share share = share_of(source);
  return shares_.may_take(share, kEndpointResponsesQueuedMax - waiting_.size()) &&
         (share != PeerShares::kNoPeer || unknown_.allows(source, now));
}

void EndpointResponses::queue(Plane plane, const wire::Ipv6Address& source, Ev ev,
                              const wire::EndpointRequest& request) {
  const PeerShares::Share share = share_of(source);
  shares_.take(share);
  waiting_.push({.op = request.erth.op,
                 .plane = plane,
                 .id = request.id.raw(),
                 .tx_ticks = request.erth.sent.ticks,
                 .share = share,
                 .ev = ev,
                 .address = source});
}

ControlSent EndpointResponses::send(Instant now, PlaneMask ports, Transmit& out) {
  const Response response = waiting_.pop();
  const ControlSent sent = fill(now, ports, response, out);
  if (sent == ControlSent::kNoPort) {
    waiting_.push(response);
  } else {
    shares_.give_back(response.share);
  }
  return sent;
}

// MRC 7.3: to a peer over a path that is known to work; to others back by the plane and EV that the
// request came by (PATH-47).
ControlSent EndpointResponses::fill(Instant now, PlaneMask ports, const Response& response,
                                    Transmit& out) {
  Peer* known = nullptr;
  state_.peers.visit_address(response.address, [&](PeerIndex, Peer& peer) {
    known = &peer;
    return false;
  });
  if (known != nullptr) {
    if (state_.ports_to(*known).empty()) return ControlSent::kDropped;
    const auto path = known->choose_reverse(now, ports & state_.ports_to(*known));
    if (!path) return ControlSent::kNoPort;
    set_route(state_.context.settings, *known, *path, out);
  } else {
    if (!state_.local_ports.has(response.plane)) return ControlSent::kDropped;
    if (!ports.has(response.plane)) return ControlSent::kNoPort;
    out.plane = response.plane;
    set_plain_route(state_.context.settings, response.address, response.ev, out);
    set_return_route(out);
  }
  set_control_class(state_.context.settings, out);
  out.packet.transport.body =
      wire::EndpointResponse{.id = wire::EndpointRequestId(response.id),
                             .eeth = {.op = response.op, .tx_ticks = response.tx_ticks}};
  state_.context.counters.add(Count::kEndpointResponsesSent);
  return ControlSent::kYes;
}

void EndpointResponses::set_return_route(Transmit& out) const {
  auto* route = std::get_if<wire::Ipv6Route>(&out.packet.route);
  if (route == nullptr || !state_.context.settings.return_routes) return;
  route->encapsulation =
      state_.context.settings.return_routes->route_to(out.plane, route->source, route->destination);
}

}  // namespace openmrc::core
