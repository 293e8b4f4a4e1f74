// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/sockets.h"

#include <fmt/core.h>
#include <linux/filter.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <system_error>

#include "openmrc/datapath/socket_options.h"
#include "openmrc/datapath/steering.h"

namespace openmrc::datapath {
namespace {

bool set(int socket, int level, int option, int value) {
  return ::setsockopt(socket, level, option, &value, sizeof value) == 0;
}

bool bind_to_interface(int socket, const std::string& interface) {
  return interface.empty() || ::setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, interface.data(),
                                           static_cast<socklen_t>(interface.size())) == 0;
}

bool bind_to(int socket, const wire::Ipv6Address& address, std::uint16_t port) {
  const SocketAddress to(address, port);
  return ::bind(socket, to.get(), to.size()) == 0;
}

// Sockets of a process that was just killed may outlive its slot by a moment.
constexpr int kBindTries = 500;
constexpr timespec kBindPause{.tv_sec = 0, .tv_nsec = 1'000'000};

bool bind_patiently(int socket, const wire::Ipv6Address& address, std::uint16_t port, int tries) {
  for (int i = 1;; ++i) {
    if (bind_to(socket, address, port)) return true;
    if (errno != EADDRINUSE || i >= tries) return false;
    ::nanosleep(&kBindPause, nullptr);
  }
}

// From now on others of this user may join. A single socket needs no program; the second one to
// join brings it.
Result<void, Error> share(int socket, PortUse use) {
  if (use == PortUse::kJoins) return attach_steering(socket);
  if (set(socket, SOL_SOCKET, SO_REUSEPORT, 1)) return {};
  return failure(Error{.what = with_reason("SO_REUSEPORT is refused", errno), .remedy = {}});
}

std::string name_of(const Port& port) {
  return port.interface.empty() ? wire::to_string(port.address) : port.interface;
}

Error interface_error(const Port& port) {
  if (errno == EPERM) {
    return {.what = fmt::format("this kernel lets only root bind a socket to an interface ({})",
                                port.interface),
            .remedy = "run as root, or give the port no interface, only an address"};
  }
  return {.what = with_reason(fmt::format("cannot use interface {}", port.interface), errno),
          .remedy = "see `ip link` for its name"};
}

std::string address_remedy(const Port& port) {
  const std::string address = wire::to_string(port.address);
  if (wire::is_mapped_ipv4(port.address)) {
    return fmt::format("the address is not there: ip addr add {}/24 dev {}", address,
                       port.interface);
  }
  return fmt::format(
      "the address is not there, or not yet (duplicate address detection): ip addr add {}/64 dev "
      "{} nodad",
      address, port.interface);
}

Error bind_error(const Port& port, wire::UdpPort udp_port) {
  const std::string what = with_reason(
      fmt::format("cannot receive on UDP port {} of {}", udp_port.raw(), name_of(port)), errno);
  if (errno == EADDRINUSE) {
    return {.what = what,
            .remedy =
                "another user's program has the port, or one that does not share it, or does so in "
                "another folder (OPENMRC_RUNTIME_DIR): `ss -ulpn` names it"};
  }
  if (errno == EADDRNOTAVAIL) {
    return {.what = what, .remedy = address_remedy(port)};
  }
  return {.what = what, .remedy = {}};
}

// Asks for `bytes`; with privileges beyond the system's limit.
void ask_for_receive_buffer(int socket, std::size_t bytes, std::vector<Error>& notices) {
  const int wanted = static_cast<int>(std::min<std::size_t>(bytes, 1u << 30));
  if (set(socket, SOL_SOCKET, SO_RCVBUFFORCE, wanted)) return;
  set(socket, SOL_SOCKET, SO_RCVBUF, wanted);
  int got = 0;
  socklen_t size = sizeof got;
  ::getsockopt(socket, SOL_SOCKET, SO_RCVBUF, &got, &size);
  if (got / 2 >= wanted) return;  // the kernel doubles it
  Error notice{.what = fmt::format("receive buffers are {} bytes instead of {}", got / 2, wanted),
               .remedy = fmt::format("sysctl -w net.core.rmem_max={}", wanted)};
  if (std::ranges::find(notices, notice) == notices.end()) notices.push_back(std::move(notice));
}

void ask_for_send_buffer(int socket, std::size_t bytes) {
  const int wanted = static_cast<int>(std::min<std::size_t>(bytes, 1u << 30));
  if (!set(socket, SOL_SOCKET, SO_SNDBUFFORCE, wanted)) {
    set(socket, SOL_SOCKET, SO_SNDBUF, wanted);
  }
}

// Nobody reads from a sending socket, so nothing may pile up in it.
bool receive_nothing(int socket) {
  sock_filter drop_all = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog program{.len = 1, .filter = &drop_all};
  return ::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

struct OptionSetting {
  int level;
  int option;
  int value;
};

// What a receiving socket is to report of each packet, and how.
std::vector<OptionSetting> receive_options(wire::IpVersion version) {
  if (version == wire::IpVersion::kV4) {
    return {{IPPROTO_IP, IP_RECVTOS, 1}, {IPPROTO_IP, IP_PKTINFO, 1}};
  }
  return {{IPPROTO_IPV6, IPV6_V6ONLY, 1},
          {IPPROTO_UDP, kUdpNoCheck6Rx, 1},
          {IPPROTO_IPV6, IPV6_RECVTCLASS, 1},
          {IPPROTO_IPV6, kIpv6FlowInfo, 1},
          {IPPROTO_IPV6, IPV6_RECVPKTINFO, 1}};
}

// A packet that does not fit is an error to be counted, not two fragments. Over IPv4 this also
// makes the kernel send each packet with DF and an Identification of 0, as the ICRC has them.
std::vector<OptionSetting> send_options(const Settings& settings, std::uint8_t traffic_byte) {
  if (ip_version(settings) == wire::IpVersion::kV4) {
    return {{IPPROTO_IP, IP_TOS, traffic_byte}, {IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE}};
  }
  return {{IPPROTO_IPV6, IPV6_V6ONLY, 1},
          {IPPROTO_UDP, kUdpNoCheck6Tx, omits_checksum(settings) ? 1 : 0},
          {IPPROTO_IPV6, kIpv6AutoFlowLabel, 0},
          {IPPROTO_IPV6, IPV6_TCLASS, traffic_byte},
          {IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE},
          {IPPROTO_IPV6, IPV6_DONTFRAG, 1}};
}

FileDescriptor udp_socket(const Port& port) {
  const int family = SocketAddress(port.address, 0).family();
  return FileDescriptor(::socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

Error no_socket(const Port& port) {
  if (wire::is_mapped_ipv4(port.address)) {
    return {.what = with_reason("cannot open a UDP socket for IPv4", errno), .remedy = {}};
  }
  return {.what = with_reason("cannot open a UDP socket for IPv6", errno),
          .remedy = "sysctl net.ipv6.conf.all.disable_ipv6=0"};
}

// Of the same version.
wire::Ipv6Address any_address(const wire::Ipv6Address& like) {
  return wire::is_mapped_ipv4(like) ? wire::mapped(wire::Ipv4Address(0)) : wire::Ipv6Address{};
}

}  // namespace

SocketAddress::SocketAddress(const wire::Ipv6Address& address, std::uint16_t port) {
  if (wire::is_mapped_ipv4(address)) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    v4.sin_addr.s_addr = htonl(wire::unmapped(address).raw());
    std::memcpy(&bytes_, &v4, sizeof v4);
    size_ = sizeof v4;
    return;
  }
  bytes_.sin6_family = AF_INET6;
  bytes_.sin6_port = htons(port);
  std::memcpy(&bytes_.sin6_addr, address.bytes.data(), address.bytes.size());
}

std::size_t segments_max(const Settings& settings) {
  if (ip_version(settings) == wire::IpVersion::kV4 && settings.send_icrc) return 1;
  return settings.segments_max;
}

std::string with_reason(std::string_view what, int error_number) {
  return fmt::format("{}: {}", what, std::generic_category().message(error_number));
}

Result<FileDescriptor, Error> open_receive_socket(const Settings& settings, const Port& port,
                                                  PortUse use, std::vector<Error>& notices) {
  FileDescriptor socket = udp_socket(port);
  if (!socket.is_open()) return failure(no_socket(port));
  const int fd = socket.get();
  if (!bind_to_interface(fd, port.interface)) return failure(interface_error(port));
  std::vector<OptionSetting> options = receive_options(ip_version(settings));
  options.push_back({SOL_SOCKET, SO_REUSEPORT, use == PortUse::kJoins ? 1 : 0});
  for (const OptionSetting& option : options) {
    if (set(fd, option.level, option.option, option.value)) continue;
    return failure(Error{
        .what = with_reason(
            fmt::format("socket option {}/{} is refused", option.level, option.option), errno),
        .remedy = "this needs Linux 5.0 or later"});
  }
  if (settings.receive_offload && !set(fd, IPPROTO_UDP, kUdpGro, 1)) {
    return failure(Error{.what = with_reason("UDP GRO unavailable", errno),
                         .remedy = "set receive_offload = false"});
  }
  ask_for_receive_buffer(fd, settings.socket_buffer, notices);
  const wire::Ipv6Address own = port.interface.empty() ? port.address : any_address(port.address);
  const int tries = use == PortUse::kFirst ? kBindTries : 1;
  if (!bind_patiently(fd, own, settings.wire.udp_port.raw(), tries)) {
    return failure(bind_error(port, settings.wire.udp_port));
  }
  if (auto shared = share(fd, use); !shared) return failure(std::move(shared.error()));
  return socket;
}

Result<FileDescriptor, int> open_send_socket(const Settings& settings, const Port& port,
                                             std::uint16_t source_port, std::uint8_t traffic_byte) {
  FileDescriptor socket = udp_socket(port);
  if (!socket.is_open()) return failure(errno);
  const int fd = socket.get();
  if (!receive_nothing(fd) || !bind_to_interface(fd, port.interface)) return failure(errno);
  std::vector<OptionSetting> options = send_options(settings, traffic_byte);
  options.push_back({SOL_SOCKET, SO_REUSEPORT, 1});
  options.push_back({SOL_SOCKET, SO_RCVBUF, 0});  // the least there is
  for (const OptionSetting& option : options) {
    if (!set(fd, option.level, option.option, option.value)) return failure(errno);
  }
  ask_for_send_buffer(fd, settings.socket_buffer);
  if (!bind_to(fd, port.address, source_port)) return failure(errno);
  return socket;
}

Result<FileDescriptor, Error> open_raw_socket(const Settings& settings, const Port& port) {
  FileDescriptor socket(::socket(AF_INET6, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_RAW));
  if (!socket.is_open()) {
    return failure(Error{
        .what =
            with_reason("mode \"srv6\" sends whole IPv6 packets, which needs CAP_NET_RAW", errno),
        .remedy = "run with sudo, or `setcap cap_net_raw+ep` the program, or use mode = "
                  "\"usid\", which takes the same paths without privileges"});
  }
  if (!bind_to_interface(socket.get(), port.interface)) return failure(interface_error(port));
  if (!receive_nothing(socket.get())) {
    return failure(
        Error{.what = with_reason("cannot attach a filter to a socket", errno), .remedy = {}});
  }
  ask_for_send_buffer(socket.get(), settings.socket_buffer);
  return socket;
}

}  // namespace openmrc::datapath
