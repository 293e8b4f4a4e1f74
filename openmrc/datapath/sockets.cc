// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/sockets.h"

#include <fmt/core.h>
#include <linux/filter.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
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
  const sockaddr_in6 to = socket_address(address, port);
  return ::bind(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
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

Error bind_error(const Port& port, wire::UdpPort udp_port) {
  const std::string what = with_reason(
      fmt::format("cannot receive on UDP port {} of {}", udp_port.raw(), name_of(port)), errno);
  if (errno == EADDRINUSE) {
    return {.what = what,
            .remedy =
                "another user's program, or one that does not share it, has the port: `ss "
                "-ulpn` names it"};
  }
  if (errno == EADDRNOTAVAIL) {
    return {.what = what,
            .remedy = fmt::format("the address is not there, or not yet (duplicate address "
                                  "detection): ip addr add {}/64 dev {} nodad",
                                  wire::to_string(port.address), port.interface)};
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

}  // namespace

sockaddr_in6 socket_address(const wire::Ipv6Address& address, std::uint16_t port) {
  sockaddr_in6 result{};
  result.sin6_family = AF_INET6;
  result.sin6_port = htons(port);
  std::memcpy(&result.sin6_addr, address.bytes.data(), address.bytes.size());
  return result;
}

std::string with_reason(std::string_view what, int error_number) {
  return fmt::format("{}: {}", what, std::generic_category().message(error_number));
}

Result<FileDescriptor, Error> open_receive_socket(const Settings& settings, const Port& port,
                                                  std::vector<Error>& notices) {
  FileDescriptor socket(::socket(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) {
    return failure(Error{.what = with_reason("cannot open a UDP socket for IPv6", errno),
                         .remedy = "sysctl net.ipv6.conf.all.disable_ipv6=0"});
  }
  const int fd = socket.get();
  if (!bind_to_interface(fd, port.interface)) return failure(interface_error(port));
  for (const OptionSetting& option : std::to_array<OptionSetting>({
           {SOL_SOCKET, SO_REUSEPORT, 1},
           {IPPROTO_IPV6, IPV6_V6ONLY, 1},
           {IPPROTO_UDP, kUdpNoCheck6Rx, 1},
           {IPPROTO_IPV6, IPV6_RECVTCLASS, 1},
           {IPPROTO_IPV6, kIpv6FlowInfo, 1},
           {IPPROTO_IPV6, IPV6_RECVPKTINFO, 1},
       })) {
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
  const wire::Ipv6Address own = port.interface.empty() ? port.address : wire::Ipv6Address{};
  if (!bind_to(fd, own, settings.wire.udp_port.raw())) {
    return failure(bind_error(port, settings.wire.udp_port));
  }
  if (auto steered = attach_steering(fd); !steered) return failure(std::move(steered.error()));
  return socket;
}

Result<FileDescriptor, int> open_send_socket(const Settings& settings, const Port& port,
                                             std::uint16_t source_port, std::uint8_t traffic_byte) {
  FileDescriptor socket(::socket(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return failure(errno);
  const int fd = socket.get();
  if (!receive_nothing(fd) || !bind_to_interface(fd, port.interface)) return failure(errno);
  for (const OptionSetting& option : std::to_array<OptionSetting>({
           {SOL_SOCKET, SO_REUSEPORT, 1},
           {SOL_SOCKET, SO_RCVBUF, 0},  // the least there is
           {IPPROTO_IPV6, IPV6_V6ONLY, 1},
           {IPPROTO_UDP, kUdpNoCheck6Tx, omits_checksum(settings) ? 1 : 0},
           {IPPROTO_IPV6, kIpv6AutoFlowLabel, 0},
           {IPPROTO_IPV6, IPV6_TCLASS, traffic_byte},
           // A packet that does not fit is an error to be counted, not two fragments.
           {IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE},
           {IPPROTO_IPV6, IPV6_DONTFRAG, 1},
       })) {
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
