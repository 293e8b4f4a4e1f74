// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/prober/probe_sockets.h"

#include <fmt/format.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "openmrc/datapath/socket_options.h"
#include "openmrc/datapath/sockets.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/udp.h"

namespace openmrc::prober {
namespace {

using datapath::FileDescriptor;
using datapath::SocketAddress;
using host::Error;
using wire::Ipv6;
using wire::kIpv6Size;
using wire::kUdpSize;
using wire::Udp;

// Replies of a second at the highest rate, as the kernel counts their memory.
constexpr int kReceiveBuffer = 4 * 1024 * 1024;

bool set(int socket, int level, int option, int value) {
  return ::setsockopt(socket, level, option, &value, sizeof value) == 0;
}

Error cannot(const char* what, const datapath::Port& port, std::string remedy = {}) {
  return {
      .what = datapath::with_reason(fmt::format("mapper: {} on {}", what, port.interface), errno),
      .remedy = std::move(remedy)};
}

Result<FileDescriptor, Error> open_udp(const datapath::Port& port, std::uint16_t udp_port,
                                       wire::Dscp dscp) {
  FileDescriptor socket(::socket(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return failure(cannot("cannot open a UDP socket", port));
  const int fd = socket.get();
  if (!port.interface.empty() &&
      ::setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, port.interface.data(),
                   static_cast<socklen_t>(port.interface.size())) != 0) {
    return failure(cannot("cannot bind to the interface", port, "see `ip link` for its name"));
  }
  // The tag covers the probe, and a path of uSIDs changes the destination, so that no checksum of
  // UDP would be right.
  const bool is_set =
      set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) && set(fd, IPPROTO_UDP, datapath::kUdpNoCheck6Rx, 1) &&
      set(fd, IPPROTO_UDP, datapath::kUdpNoCheck6Tx, 1) &&
      set(fd, IPPROTO_IPV6, IPV6_TCLASS, wire::traffic_byte(dscp, wire::Ecn::kNotCapable));
  if (!is_set) return failure(cannot("a socket option is refused", port));
  if (!set(fd, SOL_SOCKET, SO_RCVBUFFORCE, kReceiveBuffer)) {
    set(fd, SOL_SOCKET, SO_RCVBUF, kReceiveBuffer);
  }
  const wire::Ipv6Address own = port.interface.empty() ? port.address : wire::Ipv6Address{};
  const SocketAddress at(own, udp_port);
  if (::bind(fd, at.get(), at.size()) != 0) {
    return failure(cannot("cannot bind the UDP port", port,
                          "another program has it: `ss -ulpn` names it; or choose another "
                          "udp_port in the section mapper"));
  }
  return socket;
}

Sent outcome_of(ssize_t sent) {
  if (sent >= 0) return Sent::kYes;
  switch (errno) {
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENODEV:
    case ENXIO:
    case EADDRNOTAVAIL: return Sent::kLinkDown;
    default: return Sent::kNo;
  }
}

}  // namespace

ProbePacket encapsulated(const wire::Ipv6Address& own, const wire::UsidCarrier& to,
                         std::uint16_t udp_port, wire::Dscp dscp,
                         std::span<const std::byte, mapper::kProbeSize> probe) {
  ProbePacket packet;
  constexpr std::uint16_t kUdpLength = kUdpSize + mapper::kProbeSize;
  const std::span all(packet.bytes);
  Ipv6 header{.dscp = dscp,
              .payload_length = kIpv6Size + kUdpLength,
              .next_header = wire::IpProtocol::kIpv6,
              .source = own,
              .destination = to.address()};
  header.write(all.first<kIpv6Size>());
  header.payload_length = kUdpLength;
  header.next_header = wire::IpProtocol::kUdp;
  header.destination = own;
  header.write(all.subspan<kIpv6Size, kIpv6Size>());
  const Udp udp{
      .source_port = udp_port, .destination_port = wire::UdpPort(udp_port), .length = kUdpLength};
  udp.write(all.subspan<2 * kIpv6Size, kUdpSize>());
  std::ranges::copy(probe, all.subspan<2 * kIpv6Size + kUdpSize>().begin());
  packet.size = packet.bytes.size();
  return packet;
}

Result<ProbeSockets, Error> ProbeSockets::open(datapath::Mode mode, const datapath::Port& port,
                                               std::uint16_t udp_port, wire::Dscp dscp) {
  ProbeSockets sockets;
  sockets.port_ = port;
  sockets.udp_port_ = udp_port;
  sockets.dscp_ = dscp;
  auto udp = open_udp(port, udp_port, dscp);
  if (!udp) return failure(std::move(udp.error()));
  sockets.receive_ = *std::move(udp);
  if (datapath::encapsulates(mode)) {
    auto raw = datapath::open_raw_socket({.mode = mode, .ports = {port}}, port);
    if (!raw) return failure(Error{.what = raw.error().what, .remedy = raw.error().remedy});
    sockets.raw_ = *std::move(raw);
  }
  return sockets;
}

Sent ProbeSockets::send(const wire::UsidCarrier& to,
                        std::span<const std::byte, mapper::kProbeSize> probe) const {
  if (!raw_.is_open()) {
    const SocketAddress address(to.address(), udp_port_);
    return outcome_of(::sendto(receive_.get(), probe.data(), probe.size(),
                               MSG_DONTWAIT | MSG_NOSIGNAL, address.get(), address.size()));
  }
  const ProbePacket packet = encapsulated(port_.address, to, udp_port_, dscp_, probe);
  const SocketAddress address(to.address(), 0);
  return outcome_of(::sendto(raw_.get(), packet.bytes.data(), packet.size,
                             MSG_DONTWAIT | MSG_NOSIGNAL, address.get(), address.size()));
}

std::optional<ConstBytes> ProbeSockets::receive(MutableBytes buffer) const {
  const ssize_t size = ::recv(receive_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size < 0) return std::nullopt;
  return ConstBytes(buffer).first(static_cast<std::size_t>(size));
}

std::uint32_t ProbeSockets::dropped() const {
  std::array<std::uint32_t, SK_MEMINFO_VARS> info{};
  socklen_t size = sizeof info;
  if (::getsockopt(receive_.get(), SOL_SOCKET, SO_MEMINFO, info.data(), &size) != 0) return 0;
  return info[SK_MEMINFO_DROPS];
}

}  // namespace openmrc::prober
