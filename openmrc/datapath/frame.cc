// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/frame.h"

#include <algorithm>
#include <array>
#include <optional>
#include <variant>

#include "openmrc/wire/field/ev_halves.h"
#include "openmrc/wire/field/usid.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/udp.h"
#include "openmrc/wire/icrc.h"
#include "openmrc/wire/payload.h"

namespace openmrc::datapath {
namespace {

// Where the address fields of an IP header lie.
constexpr std::size_t kSourceAt4 = wire::Ipv4Layout::Source::kOffset / 8;
constexpr std::size_t kSourceAt = wire::Ipv6Layout::Source::kOffset / 8;
constexpr std::size_t kDestinationAt = wire::Ipv6Layout::Destination::kOffset / 8;

// The address with which a packet leaves the last switch of its path; nothing if there is no path.
std::optional<wire::Ipv6Address> end_of(const wire::Ipv6Address& carrier) {
  const wire::UsidCarrier::List usids = wire::UsidCarrier(carrier).remaining();
  if (usids.empty()) return std::nullopt;
  wire::Ipv6Address end;
  end.set_group(0, carrier.group(0));
  end.set_group(1, carrier.group(1));
  end.set_group(2, usids[usids.size() - 1].raw());
  return end;
}

bool is_possible(const wire::Ipv6Route& route, Mode mode) {
  switch (mode) {
    case Mode::kUdp: return !route.encapsulation;
    case Mode::kUsid:
      return route.encapsulation && !route.encapsulation->srh &&
             end_of(route.encapsulation->destination);
    case Mode::kSrv6:
    case Mode::kXdp: return route.encapsulation.has_value();
  }
  return false;
}

void put_address(const wire::Ipv6Address& address, MutableBytes header, std::size_t at) {
  std::ranges::copy(address.bytes, header.subspan(at).begin());
}

// Where a packet goes, if the mode can take it there.
bool fill_address(const wire::Packet& packet, const Settings& settings, Envelope& into) {
  if (const auto* route = std::get_if<wire::Ipv6Route>(&packet.route)) [[likely]] {
    if (!is_possible(*route, settings.mode)) return false;
    into.to = route->encapsulation ? route->encapsulation->destination : route->destination;
    into.flow_label = wire::ev_high(route->ev);
    into.source_port = wire::ev_low(route->ev);
    return true;
  }
  const auto& route = std::get<wire::Ipv4Route>(packet.route);
  if (ip_version(settings) != wire::IpVersion::kV4) return false;
  into.to = wire::mapped(route.destination);
  into.flow_label = 0;
  into.source_port = route.ev_low;
  return true;
}

// The headers that the kernel writes are for the ICRC, as the receiver will see them; those behind
// are returned.
MutableBytes prepare_ipv4(const wire::Ipv6Address& own, MutableBytes covered) {
  std::ranges::copy(std::span(own.bytes).last<4>(), covered.subspan(kSourceAt4).begin());
  return covered.subspan(wire::kIpv4Size + wire::kUdpSize);
}
MutableBytes prepare_ipv6(const wire::Ipv6Address& own, const wire::Ipv6Route& route, Mode mode,
                          MutableBytes covered) {
  put_address(own, covered, kSourceAt);
  if (mode == Mode::kUsid) {
    put_address(*end_of(route.encapsulation->destination), covered, kDestinationAt);
  }
  return covered.subspan(wire::kIpv6Size + wire::kUdpSize);
}

void write_trailer(ConstBytes covered, const Outgoing& outgoing, const Settings& settings,
                   Frame& frame) {
  const std::size_t pad = wire::pad_count(frame.payload.size());
  std::uint32_t icrc = 0;
  if (settings.send_icrc) icrc = wire::icrc_of(covered, std::array{frame.payload});
  if (outgoing.is_spoilt) [[unlikely]]
    icrc ^= 1;
  FrameTrailer& trailer = frame.trailer;
  trailer.buffer = {};
  for (std::size_t i = 0; i < wire::kIcrcSize; ++i) {
    trailer.buffer[pad + i] = static_cast<std::byte>(icrc >> 8 * i & 0xff);
  }
  trailer.size = pad + wire::kIcrcSize;
}

}  // namespace

bool fill_envelope(const Outgoing& outgoing, const Settings& settings, Envelope& into) {
  const wire::Packet& packet = *outgoing.packet;
  if (!fill_address(packet, settings, into)) return false;
  const auto* trimmed = std::get_if<wire::TrimmedWrite>(&packet.transport.body);
  const wire::Dscp dscp = trimmed != nullptr ? settings.wire.dscp.of(trimmed->place)
                                             : settings.wire.dscp.of(packet.traffic_class);
  into.udp_port = packet.udp_port;
  into.traffic_byte = wire::traffic_byte(dscp, packet.ecn);
  into.plane = outgoing.plane;
  return true;
}

void write_frame(const Outgoing& outgoing, const Settings& settings, Frame& into) {
  const wire::Packet& packet = *outgoing.packet;
  const wire::HeadersWritten written = wire::encode_headers(packet, settings.wire, into.buffer);
  const MutableBytes covered =
      MutableBytes(into.buffer).first(written.size).subspan(written.covered_from);
  if (encapsulates(settings.mode)) {
    into.headers = MutableBytes(into.buffer).first(written.size);
  } else {
    const wire::Ipv6Address& own = settings.ports[outgoing.plane.raw()].address;
    const auto* route = std::get_if<wire::Ipv6Route>(&packet.route);
    into.headers = route != nullptr ? prepare_ipv6(own, *route, settings.mode, covered)
                                    : prepare_ipv4(own, covered);
  }
  into.payload = wire::payload_of(packet.transport.body).bytes();
  if (std::holds_alternative<wire::TrimmedWrite>(packet.transport.body)) {
    into.trailer.size = 0;
  } else {
    write_trailer(covered, outgoing, settings, into);
  }
}

}  // namespace openmrc::datapath
