// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>
#include <vector>

#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/datapath/socket_options.h"
#include "openmrc/datapath/sockets.h"
#include "openmrc/datapath/steering.h"
#include "openmrc/host/clock.h"
#include "openmrc/text/units.h"
#include "openmrc/xdp/open.h"
#include "tools/mrc/doctor/clock.h"
#include "tools/mrc/doctor/findings.h"
#include "tools/mrc/doctor/kernel.h"

namespace openmrc::tools::doctor {
namespace {

using datapath::FileDescriptor;
using datapath::Mode;

FileDescriptor udp_socket(wire::IpVersion version) {
  const int family = version == wire::IpVersion::kV4 ? AF_INET : AF_INET6;
  return FileDescriptor(::socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

bool set(int socket, int level, int option, int value) {
  return ::setsockopt(socket, level, option, &value, sizeof value) == 0;
}

struct Option {
  std::string_view name;
  int level;
  int option;
  int value;
  std::string_view remedy;
};

// What the data path asks of the kernel.
std::vector<Option> options_for(const host::Config& config) {
  std::vector<Option> options{
      {"UDP_SEGMENT", IPPROTO_UDP, datapath::kUdpSegment, static_cast<int>(config.transport.mtu),
       "set segments_max = 1 in [offload], or use Linux 4.18"},
      {"UDP_GRO", IPPROTO_UDP, datapath::kUdpGro, 1,
       "set receive = false in [offload], or use Linux 5.0"}};
  const std::string_view old = "use Linux 3.16 or later";
  if (ip_version(config) == wire::IpVersion::kV4) {
    options.push_back({"IP_RECVTOS", IPPROTO_IP, IP_RECVTOS, 1, old});
    options.push_back({"IP_PKTINFO", IPPROTO_IP, IP_PKTINFO, 1, old});
  } else {
    options.push_back({"UDP_NO_CHECK6_TX", IPPROTO_UDP, datapath::kUdpNoCheck6Tx, 1, old});
    options.push_back({"UDP_NO_CHECK6_RX", IPPROTO_UDP, datapath::kUdpNoCheck6Rx, 1, old});
    options.push_back({"IPV6_RECVTCLASS", IPPROTO_IPV6, IPV6_RECVTCLASS, 1, old});
    options.push_back({"IPV6_FLOWINFO", IPPROTO_IPV6, datapath::kIpv6FlowInfo, 1, old});
  }
  return options;
}

// Each on a socket of its own, which is closed again.
void check_options(const host::Config& config, Findings& findings) {
  for (const Option& option : options_for(config)) {
    const FileDescriptor socket = udp_socket(ip_version(config));
    const std::string check(option.name);
    if (set(socket.get(), option.level, option.option, option.value)) {
      findings.ok(check, "works");
    } else {
      findings.fail(check, datapath::with_reason("is refused", errno), std::string(option.remedy));
    }
  }
}

// In a group of its own, on a port that the kernel picks.
void check_steering(wire::IpVersion version, Findings& findings) {
  const FileDescriptor socket = udp_socket(version);
  const bool is_ipv4 = version == wire::IpVersion::kV4;
  const datapath::SocketAddress any(
      is_ipv4 ? wire::mapped(wire::Ipv4Address(0)) : wire::Ipv6Address{}, 0);
  if (!socket.is_open() || !set(socket.get(), SOL_SOCKET, SO_REUSEPORT, 1) ||
      ::bind(socket.get(), any.get(), any.size()) != 0) {
    findings.fail("SO_REUSEPORT", datapath::with_reason("cannot be used", errno),
                  is_ipv4 ? Remedy("use Linux 4.5 or later")
                          : Remedy::by({"sysctl -w net.ipv6.conf.all.disable_ipv6=0"}));
  } else if (const auto steered = datapath::attach_steering(socket.get()); !steered) {
    findings.fail("SO_REUSEPORT", steered.error().what, steered.error().remedy);
  } else {
    findings.ok("SO_REUSEPORT", "accepts the program that steers packets to shards");
  }
}

void check_raw(const host::Config& config, Findings& findings) {
  if (!datapath::encapsulates(config.mode)) return;
  const FileDescriptor socket(::socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW));
  if (socket.is_open()) {
    findings.ok("CAP_NET_RAW", "is there");
  } else {
    findings.fail("CAP_NET_RAW",
                  datapath::with_reason(
                      fmt::format("mode \"{}\" needs it", datapath::name_of(config.mode)), errno),
                  "sudo, or: setcap cap_net_raw+ep PROGRAM, or mode = \"usid\", which takes the "
                  "same paths without it");
  }
}

void check_xdp(const host::Config& config, Findings& findings) {
  if (config.mode != Mode::kXdp) return;
  const datapath::Settings settings{
      .mode = config.mode, .ports = config.ports, .wire = config.wire};
  for (const datapath::Port& port : config.ports) {
    const std::string check = port.interface + ": AF_XDP";
    const auto found = xdp::check_port(settings, port);
    if (!found) {
      findings.fail(check, found.error().what, found.error().remedy);
    } else if (found->is_taken) {
      findings.ok(check, "another process has its sockets and passes packets on");
    } else {
      findings.ok(check, fmt::format("{} queue{}, {}", found->queues, found->queues == 1 ? "" : "s",
                                     found->is_zero_copy ? "zero copy" : "the kernel copies"));
    }
  }
}

struct Buffer {
  std::string_view name;
  int option;
  int forced;
  std::string_view key;
};

// What is set for the whole machine cannot be set in a container.
Remedy buffer_remedy(const Buffer& buffer, std::size_t wanted) {
  const std::string command = fmt::format("sysctl -w {}={}", buffer.key, wanted);
  std::string file = fmt::format("/proc/sys/{}", buffer.key);
  std::ranges::replace(file, '.', '/');
  return ::geteuid() == 0 && ::access(file.c_str(), W_OK) != 0 ? Remedy(command)
                                                               : Remedy::by({command});
}

// As the data path asks for it.
void check_buffer(const Buffer& buffer, const host::Config& config, BuffersFor who,
                  Findings& findings) {
  const std::size_t wanted = config.socket_buffer;
  const FileDescriptor socket = udp_socket(ip_version(config));
  const int bytes = static_cast<int>(wanted);
  if (who == BuffersFor::kEveryone || !set(socket.get(), SOL_SOCKET, buffer.forced, bytes)) {
    set(socket.get(), SOL_SOCKET, buffer.option, bytes);
  }
  int got = 0;
  socklen_t size = sizeof got;
  ::getsockopt(socket.get(), SOL_SOCKET, buffer.option, &got, &size);
  const auto granted = static_cast<std::uint64_t>(got / 2);  // the kernel doubles what is asked
  const std::string check(buffer.name);
  if (granted >= wanted) {
    findings.ok(check, text::format_size(granted) + ", as socket_buffer requests");
  } else {
    findings.warn(check,
                  fmt::format("{} of the {} that socket_buffer requests: bursts may be lost",
                              text::format_size(granted), text::format_size(wanted)),
                  buffer_remedy(buffer, wanted));
  }
}

// Sockets that all shards together may have open.
std::uint64_t descriptors_needed(const host::Config& config) {
  constexpr std::uint64_t kOthers = 64;         // of the program itself
  constexpr std::uint64_t kOthersOfShard = 16;  // timers, queues, a slot
  // With UDP each source port is a socket: those of our EVs, and of our peers' for answers.
  const std::uint64_t ways =
      datapath::encapsulates(config.mode) ? config.ports.size() : 2 * config.transport.paths.evs;
  return kOthers + config.shards * (config.ports.size() + ways + kOthersOfShard);
}

void check_descriptors(const host::Config& config, Findings& findings) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const std::uint64_t needed = descriptors_needed(config);
  // A program may raise its own limit up to the hard one, and ours do.
  if (limit.rlim_max >= needed) {
    findings.ok("open files", fmt::format("{} allowed, about {} needed", limit.rlim_max, needed));
  } else {
    findings.fail(
        "open files", fmt::format("{} allowed, and about {} are needed", limit.rlim_max, needed),
        fmt::format("ulimit -Hn {} as root, or LimitNOFILE={} in the unit", needed, needed));
  }
}

void check_kernel(Findings& findings) {
  utsname name{};
  ::uname(&name);
  int major = 0;
  int minor = 0;
  // NOLINTNEXTLINE(cert-err34-c): what is no number stays zero, which is old
  (void)std::sscanf(name.release, "%d.%d", &major, &minor);
  if (major > 6 || (major == 6 && minor >= 1)) {
    findings.ok("kernel", fmt::format("Linux {}", name.release));
  } else {
    findings.warn(
        "kernel",
        fmt::format("Linux {} does not forward micro-segments (NEXT-C-SID)", name.release),
        "for `mrc lab` use Linux 6.1 or later, or --switch soft; hosts need nothing");
  }
}

void check_clock(Findings& findings) {
  const std::string source =
      first_word("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  findings.add(judge_clock(source, reading_time_ns(host::now)));
}

}  // namespace

void check_sockets(const host::Config& config, BuffersFor who, Findings& findings) {
  check_options(config, findings);
  check_steering(ip_version(config), findings);
  check_raw(config, findings);
  check_xdp(config, findings);
  for (const Buffer& buffer : std::to_array<Buffer>({
           {"receive buffer", SO_RCVBUF, SO_RCVBUFFORCE, "net.core.rmem_max"},
           {"send buffer", SO_SNDBUF, SO_SNDBUFFORCE, "net.core.wmem_max"},
       })) {
    check_buffer(buffer, config, who, findings);
  }
}

void check_machine(const host::Config& config, Findings& findings) {
  check_descriptors(config, findings);
  check_kernel(findings);
  check_clock(findings);
}

}  // namespace openmrc::tools::doctor
