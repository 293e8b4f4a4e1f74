// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/base/hold.h"
#include "openmrc/core/context/settings.h"
#include "openmrc/core/endpoint/transmit.h"
#include "openmrc/core/paths/path_set.h"
#include "openmrc/core/peer/peer.h"

// Addresses, EV and class of packets that leave, and the outer header that names their path.
namespace openmrc::core {

// The way to an address without a path of ours; `out.plane` says which port.
void set_plain_route(const EndpointSettings& settings, const wire::Ipv6Address& destination, Ev ev,
                     Transmit& out);
void set_ipv4_route(const EndpointSettings& settings, const wire::Ipv6Address& destination, Ev ev,
                    Transmit& out);
// MRC 9.3.5 (PATH-76, PATH-77): the outer destination is the path.
void set_encapsulation(const EvProfile& profile, const wire::Ipv6Address& overlay, EvIndex ev,
                       wire::Packet& packet);

[[gnu::always_inline]] inline void set_ipv6_route(const EndpointSettings& settings,
                                                  const wire::Ipv6Address& destination, Ev ev,
                                                  Transmit& out) {
  auto& route = hold<wire::Ipv6Route>(out.packet.route);
  route.source = settings.addresses[out.plane.raw()];
  route.destination = destination;
  route.ev = ev;
  route.encapsulation.reset();
}

// The way to a peer, by one of its paths.
[[gnu::always_inline]] inline void set_route(const EndpointSettings& settings, const Peer& peer,
                                             const PathSet::Choice& path, Transmit& out) {
  const Ev ev = peer.paths.profile().entry(path.ev).ev;
  const wire::Ipv6Address& destination = peer.addresses[path.plane.raw()];
  out.plane = path.plane;
  out.packet.udp_port = settings.udp_port;
  if (peer.is_ipv4) [[unlikely]]
    return set_ipv4_route(settings, destination, ev, out);
  set_ipv6_route(settings, destination, ev, out);
  if (peer.is_srv6) {
    set_encapsulation(peer.paths.profile(), peer.path_overlay, path.ev, out.packet);
  }
}

// MRC 8 (CC-13, WIRE-31): control packets are not marked and not trimmed.
inline void set_control_class(const EndpointSettings& settings, Transmit& out) {
  out.packet.traffic_class = wire::TrafficClass::kControl;
  out.packet.ecn = wire::Ecn::kNotCapable;
  out.packet.transport.pkey = settings.pkey;
}

}  // namespace openmrc::core
