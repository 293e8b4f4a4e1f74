// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/arrival.h"

#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "openmrc/base/check.h"
#include "openmrc/datapath/socket_options.h"
#include "openmrc/wire/decode.h"
#include "openmrc/wire/header/ipv4.h"

namespace openmrc::datapath {
namespace {

wire::Ipv6Address address_of(const in_addr& from) {
  return wire::mapped(wire::Ipv4Address(ntohl(from.s_addr)));
}
wire::Ipv6Address address_of(const in6_addr& from) {
  wire::Ipv6Address address;
  std::memcpy(address.bytes.data(), &from, address.bytes.size());
  return address;
}

// The content of a control message, if it is as long as it should be and ends before `end`.
template <class T>
bool read_control(const cmsghdr& control, const void* end, T& into) {
  if (control.cmsg_len < CMSG_LEN(sizeof into)) return false;
  if (CMSG_DATA(&control) + sizeof into > static_cast<const unsigned char*>(end)) return false;
  std::memcpy(&into, CMSG_DATA(&control), sizeof into);
  return true;
}

// What the control messages of one datagram say; all but the segment size must be there.
struct Controls {
  int traffic_class = -1;
  std::optional<wire::Ipv6Address> destination{};
  std::uint32_t flow_info = 0;  // in network order; the kernel leaves it out when it is 0
  int segment_size = 0;

  void take(const cmsghdr& control, const void* end) {
    if (control.cmsg_level == IPPROTO_IPV6) {
      if (control.cmsg_type == IPV6_TCLASS) read_control(control, end, traffic_class);
      if (control.cmsg_type == kIpv6FlowInfo) read_control(control, end, flow_info);
      if (control.cmsg_type == IPV6_PKTINFO) {
        in6_pktinfo info{};
        if (read_control(control, end, info)) destination = address_of(info.ipi6_addr);
      }
    } else if (control.cmsg_level == IPPROTO_IP) {
      take_ipv4(control, end);
    } else if (control.cmsg_level == IPPROTO_UDP && control.cmsg_type == kUdpGro) {
      read_control(control, end, segment_size);
    }
  }

 private:
  void take_ipv4(const cmsghdr& control, const void* end) {
    std::uint8_t byte = 0;
    if (control.cmsg_type == IP_TOS && read_control(control, end, byte)) traffic_class = byte;
    in_pktinfo info{};
    if (control.cmsg_type == IP_PKTINFO && read_control(control, end, info)) {
      destination = address_of(info.ipi_addr);
    }
  }
};

struct MessageSource {
  wire::Ipv6Address address{};
  std::uint16_t port = 0;
};

std::optional<MessageSource> source_of(const msghdr& message) {
  sockaddr_in v4{};
  if (message.msg_name == nullptr || message.msg_namelen < sizeof v4) return std::nullopt;
  std::memcpy(&v4, message.msg_name, sizeof v4);
  if (v4.sin_family == AF_INET) return MessageSource{address_of(v4.sin_addr), ntohs(v4.sin_port)};
  sockaddr_in6 v6{};
  if (v4.sin_family != AF_INET6 || message.msg_namelen < sizeof v6) return std::nullopt;
  std::memcpy(&v6, message.msg_name, sizeof v6);
  return MessageSource{address_of(v6.sin6_addr), ntohs(v6.sin6_port)};
}

// The longest that the headers of both versions can state.
constexpr std::size_t kDatagramMax = 0xffff - wire::kIpv4Size - wire::kUdpSize;

}  // namespace

std::optional<Message> read_message(const msghdr& message) {
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return std::nullopt;
  const auto from = source_of(message);
  if (!from) return std::nullopt;

  Controls controls;
  const void* const end =
      static_cast<const std::byte*>(message.msg_control) + message.msg_controllen;
  for (const cmsghdr* control = CMSG_FIRSTHDR(&message); control != nullptr;
       control = CMSG_NXTHDR(const_cast<msghdr*>(&message), const_cast<cmsghdr*>(control))) {
    controls.take(*control, end);
  }
  if (!controls.destination || controls.traffic_class < 0 || controls.traffic_class > 0xff ||
      controls.segment_size < 0) {
    return std::nullopt;
  }
  return Message{.arrival = {.source = from->address,
                             .destination = *controls.destination,
                             .flow_label = ntohl(controls.flow_info) & kFlowLabelMax,
                             .source_port = from->port,
                             .traffic_byte = static_cast<std::uint8_t>(controls.traffic_class)},
                 .segment_size = static_cast<std::size_t>(controls.segment_size)};
}

TakenHeaders::TakenHeaders(const Arrival& arrival, std::size_t size, wire::UdpPort port)
    : size_(size) {
  const auto length = static_cast<std::uint16_t>(wire::kUdpSize + std::min(size, kDatagramMax));
  if (wire::is_mapped_ipv4(arrival.source)) {
    first_ = wire::kIpv6Size - wire::kIpv4Size;
    wire::Ipv4{.dscp = wire::dscp_of(arrival.traffic_byte),
               .ecn = wire::ecn_of(arrival.traffic_byte),
               .total_length = static_cast<std::uint16_t>(wire::kIpv4Size + length),
               .source = wire::unmapped(arrival.source),
               .destination = wire::unmapped(arrival.destination)}
        .write(std::span(bytes_).subspan<wire::kIpv6Size - wire::kIpv4Size, wire::kIpv4Size>());
  } else {
    wire::Ipv6{.dscp = wire::dscp_of(arrival.traffic_byte),
               .ecn = wire::ecn_of(arrival.traffic_byte),
               .flow_label = arrival.flow_label,
               .payload_length = length,
               .source = arrival.source,
               .destination = arrival.destination}
        .write(std::span(bytes_).first<wire::kIpv6Size>());
  }
  wire::Udp{.source_port = arrival.source_port, .destination_port = port, .length = length}.write(
      std::span(bytes_).last<wire::kUdpSize>());
}

Result<void, wire::Reject> decode_in_place(const TakenHeaders& headers, MutableBytes buffer,
                                           std::size_t at, const wire::WireSettings& settings,
                                           wire::Packet& into) {
  const std::size_t size = headers.size();
  OPENMRC_CHECK(at >= kRoomInFront && at <= buffer.size() && size <= buffer.size() - at,
                "datagram or its room in front lies outside the buffer");
  if (size > kDatagramMax) return failure(wire::Reject::kUdpLengthMismatch);
  std::byte* const front = buffer.data() + at - kRoomInFront;
  std::array<std::byte, kRoomInFront> lay_there;
  std::memcpy(lay_there.data(), front, kRoomInFront);
  std::memcpy(front, headers.bytes().data(), kRoomInFront);
  const ConstBytes packet = ConstBytes(front, kRoomInFront + size).subspan(headers.first());
  const auto decoded = wire::decode_ip_into(packet, settings, into);
  std::memcpy(front, lay_there.data(), kRoomInFront);
  return decoded;
}

}  // namespace openmrc::datapath
