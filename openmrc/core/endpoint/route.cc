// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/route.h"

namespace openmrc::core {

void set_ipv4_route(const EndpointSettings& settings, const wire::Ipv6Address& destination, Ev ev,
                    Transmit& out) {
  out.packet.route = wire::Ipv4Route{.source = wire::unmapped(settings.addresses[out.plane.raw()]),
                                     .destination = wire::unmapped(destination),
                                     .ev_low = static_cast<std::uint16_t>(ev.raw())};
}

void set_plain_route(const EndpointSettings& settings, const wire::Ipv6Address& destination, Ev ev,
                     Transmit& out) {
  out.packet.udp_port = settings.udp_port;
  if (wire::is_mapped_ipv4(destination)) return set_ipv4_route(settings, destination, ev, out);
  set_ipv6_route(settings, destination, ev, out);
}

void set_encapsulation(const EvProfile& profile, const wire::Ipv6Address& overlay, EvIndex ev,
                       wire::Packet& packet) {
  const auto segment = profile.segment(ev);
  auto& route = std::get<wire::Ipv6Route>(packet.route);
  route.encapsulation = wire::SrEncapsulation{
      .source = route.source,
      .destination = profile.entry(ev).outer | overlay,
      .srh = segment ? std::optional(wire::Srh{.segment = *segment}) : std::nullopt};
}

}  // namespace openmrc::core
