// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/xdp/frame_parts.h"

#include <algorithm>

#include "openmrc/wire/header/ethernet.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/srh.h"
#include "openmrc/wire/header/udp.h"

namespace openmrc::xdp {
namespace {

using wire::IpProtocol;

wire::Ipv6 header_at(ConstBytes frame, std::size_t at) {
  return wire::Ipv6::read(wire::Ipv6View(frame.subspan(at).first<wire::kIpv6Size>()));
}

// The header at `at`, if there is one that passes its check.
template <class Header>
std::optional<typename Header::View> checked(ConstBytes frame, std::size_t at) {
  constexpr std::size_t kSize = Header::View::kSize;
  if (frame.size() < at + kSize) return std::nullopt;
  const typename Header::View view(frame.subspan(at).first<kSize>());
  if (!Header::check(view)) return std::nullopt;
  return view;
}

// Behind the outer headers, where the inner one begins; nothing if none does.
std::optional<std::size_t> inner_header_at(ConstBytes frame, std::size_t outer_at) {
  const IpProtocol next = header_at(frame, outer_at).next_header;
  if (next == IpProtocol::kUdp) return outer_at;
  const std::size_t at = outer_at + wire::kIpv6Size;
  if (next != IpProtocol::kRouting) return at;
  if (!checked<wire::Srh>(frame, at)) return std::nullopt;
  return at + wire::kSrhSize;
}

}  // namespace

std::optional<FrameParts> read_frame(ConstBytes frame) {
  FrameParts parts{.outer_at = wire::EthernetView::kSize, .inner_at = 0, .datagram = {}};
  if (!checked<wire::Ipv6>(frame, parts.outer_at)) return std::nullopt;
  const auto inner_at = inner_header_at(frame, parts.outer_at);
  if (!inner_at || !checked<wire::Ipv6>(frame, *inner_at)) return std::nullopt;
  parts.inner_at = *inner_at;
  if (header_at(frame, parts.inner_at).next_header != IpProtocol::kUdp) return std::nullopt;
  const std::size_t udp_at = parts.inner_at + wire::kIpv6Size;
  if (frame.size() < udp_at + wire::kUdpSize) return std::nullopt;
  const wire::Udp udp =
      wire::Udp::read(wire::UdpView(frame.subspan(udp_at).first<wire::kUdpSize>()));
  const ConstBytes datagram = frame.subspan(udp_at + wire::kUdpSize);
  if (udp.length < wire::kUdpSize) return std::nullopt;
  parts.datagram =
      datagram.first(std::min<std::size_t>(datagram.size(), udp.length - wire::kUdpSize));
  return parts;
}

// WIRE-27, WIRE-28
datapath::Arrival arrival_of(ConstBytes frame, const FrameParts& parts) {
  const wire::Ipv6 outer = header_at(frame, parts.outer_at);
  const wire::Ipv6 inner = header_at(frame, parts.inner_at);
  const wire::Udp udp = wire::Udp::read(
      wire::UdpView(frame.subspan(parts.inner_at + wire::kIpv6Size).first<wire::kUdpSize>()));
  const bool is_congested = outer.ecn == wire::Ecn::kCongested;
  return {.source = inner.source,
          .destination = inner.destination,
          .flow_label = inner.flow_label,
          .source_port = udp.source_port,
          .traffic_byte = wire::traffic_byte(outer.dscp, is_congested ? outer.ecn : inner.ecn)};
}

}  // namespace openmrc::xdp
