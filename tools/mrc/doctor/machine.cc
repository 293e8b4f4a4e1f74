// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/datapath/socket_options.h"
#include "openmrc/datapath/sockets.h"
#include "openmrc/datapath/steering.h"
#include "openmrc/host/clock.h"
#include "openmrc/text/units.h"
#include "tools/mrc/doctor/findings.h"
#include "tools/mrc/doctor/kernel.h"

namespace openmrc::tools::doctor {
namespace {

using datapath::FileDescriptor;
using datapath::Mode;

FileDescriptor udp_socket() {
  return FileDescriptor(::socket(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

bool set(int socket, int level, int option, int value) {
  return ::setsockopt(socket, level, option, &value, sizeof value) == 0;
}

// Each on a socket of its own, which is closed again.
void check_options(const host::Config& config, Findings& findings) {
  struct Option {
    std::string_view name;
    int level;
    int option;
    int value;
    std::string_view remedy;
  };
  const std::string_view no_segments = "set segments_max = 1 in [offload], or use Linux 4.18";
  const std::string_view no_gro = "set receive = false in [offload], or use Linux 5.0";
  for (const Option& option : std::to_array<Option>({
           {"UDP_SEGMENT", IPPROTO_UDP, datapath::kUdpSegment,
            static_cast<int>(config.transport.mtu), no_segments},
           {"UDP_GRO", IPPROTO_UDP, datapath::kUdpGro, 1, no_gro},
           {"UDP_NO_CHECK6_TX", IPPROTO_UDP, datapath::kUdpNoCheck6Tx, 1,
            "use Linux 3.16 or later"},
           {"UDP_NO_CHECK6_RX", IPPROTO_UDP, datapath::kUdpNoCheck6Rx, 1,
            "use Linux 3.16 or later"},
           {"IPV6_RECVTCLASS", IPPROTO_IPV6, IPV6_RECVTCLASS, 1, "use Linux 2.6.14 or later"},
           {"IPV6_FLOWINFO", IPPROTO_IPV6, datapath::kIpv6FlowInfo, 1, "use Linux 3.12 or later"},
       })) {
    const FileDescriptor socket = udp_socket();
    const std::string check(option.name);
    if (set(socket.get(), option.level, option.option, option.value)) {
      findings.ok(check, "works");
    } else {
      findings.fail(check, datapath::with_reason("is refused", errno), std::string(option.remedy));
    }
  }
}

// In a group of its own, on a port that the kernel picks.
void check_steering(Findings& findings) {
  const FileDescriptor socket = udp_socket();
  const sockaddr_in6 any = datapath::socket_address({}, 0);
  if (!socket.is_open() || !set(socket.get(), SOL_SOCKET, SO_REUSEPORT, 1) ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0) {
    findings.fail("SO_REUSEPORT", datapath::with_reason("cannot be used", errno),
                  "sysctl -w net.ipv6.conf.all.disable_ipv6=0");
  } else if (const auto steered = datapath::attach_steering(socket.get()); !steered) {
    findings.fail("SO_REUSEPORT", steered.error().what, steered.error().remedy);
  } else {
    findings.ok("SO_REUSEPORT", "accepts the program that steers packets to shards");
  }
}

void check_raw(const host::Config& config, Findings& findings) {
  if (config.mode != Mode::kSrv6) return;
  const FileDescriptor socket(::socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW));
  if (socket.is_open()) {
    findings.ok("CAP_NET_RAW", "is there");
  } else {
    findings.fail("CAP_NET_RAW", datapath::with_reason("mode \"srv6\" needs it", errno),
                  "sudo, or: setcap cap_net_raw+ep PROGRAM, or mode = \"usid\", which takes the "
                  "same paths without it");
  }
}

struct Buffer {
  std::string_view name;
  int option;
  int forced;
  std::string_view key;
};

// As the data path asks for it.
void check_buffer(const Buffer& buffer, std::size_t wanted, Findings& findings) {
  const FileDescriptor socket = udp_socket();
  const int bytes = static_cast<int>(wanted);
  if (!set(socket.get(), SOL_SOCKET, buffer.forced, bytes)) {
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
                  fmt::format("sysctl -w {}={}", buffer.key, wanted));
  }
}

// Sockets that all shards together may have open.
std::uint64_t descriptors_needed(const host::Config& config) {
  constexpr std::uint64_t kOthers = 64;         // of the program itself
  constexpr std::uint64_t kOthersOfShard = 16;  // timers, queues, a slot
  // With UDP each source port is a socket: those of our EVs, and of our peers' for answers.
  const std::uint64_t ways =
      config.mode == Mode::kSrv6 ? config.ports.size() : 2 * config.transport.paths.evs;
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
  constexpr int kReadings = 10'000;
  constexpr std::int64_t kSlow = 500;  // more than any clock that is read without a system call
  const std::string source =
      first_word("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  const Instant begin = host::now();
  for (int i = 1; i < kReadings; ++i) (void)host::now();
  const std::int64_t each = (host::now() - begin).raw() / kReadings;
  const std::string found =
      fmt::format("{}, read in {} ns", source.empty() ? "unknown" : source, each);
  if (each < kSlow) {
    findings.ok("clock", found);
  } else {
    findings.warn("clock", found + ": slow, and each burst reads it",
                  "boot with clocksource=tsc if the processor's counter is steady");
  }
}

struct Arrival {
  std::uint8_t traffic_byte = 0;
  std::uint32_t flow_label = 0;
};

// One datagram to ourselves on ::1, as it arrives.
class LoopbackTrial {
 public:
  bool open() {
    const sockaddr_in6 own =
        datapath::socket_address(wire::Ipv6Address::of({0, 0, 0, 0, 0, 0, 0, 1}), 0);
    return set(socket_.get(), IPPROTO_IPV6, IPV6_RECVTCLASS, 1) &&
           set(socket_.get(), IPPROTO_IPV6, datapath::kIpv6FlowInfo, 1) &&
           ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0 &&
           connect_to_itself();
  }

  std::optional<Arrival> send(std::uint8_t traffic_byte, std::uint32_t flow_label) {
    if (!set(socket_.get(), IPPROTO_IPV6, IPV6_TCLASS, traffic_byte)) return std::nullopt;
    sockaddr_in6 to = address_;
    to.sin6_flowinfo = htonl(flow_label);
    alignas(cmsghdr) std::array<std::byte, 64> control{};
    msghdr message = make_message(control, CMSG_SPACE(sizeof(std::uint32_t)));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = IPPROTO_IPV6;
    header->cmsg_type = datapath::kIpv6FlowInfo;
    header->cmsg_len = CMSG_LEN(sizeof(std::uint32_t));
    std::memcpy(CMSG_DATA(header), &to.sin6_flowinfo, sizeof to.sin6_flowinfo);
    message.msg_name = &address_;
    message.msg_namelen = sizeof address_;
    if (::sendmsg(socket_.get(), &message, 0) < 0) return std::nullopt;
    return receive();
  }

 private:
  bool connect_to_itself() {
    socklen_t size = sizeof address_;
    return ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address_), &size) == 0;
  }

  msghdr make_message(std::span<std::byte> control, std::size_t size) {
    part_ = {.iov_base = byte_.data(), .iov_len = byte_.size()};
    msghdr message{};
    message.msg_iov = &part_;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = size;
    return message;
  }

  std::optional<Arrival> receive() {
    pollfd asked{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&asked, 1, kTimeoutMilliseconds) <= 0) return std::nullopt;
    alignas(cmsghdr) std::array<std::byte, 256> control{};
    msghdr message = make_message(control, control.size());
    if (::recvmsg(socket_.get(), &message, 0) < 0) return std::nullopt;
    Arrival arrival;
    for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr;
         each = CMSG_NXTHDR(&message, each)) {
      std::uint32_t value = 0;
      std::memcpy(&value, CMSG_DATA(each), sizeof value);
      if (each->cmsg_type == IPV6_TCLASS) arrival.traffic_byte = static_cast<std::uint8_t>(value);
      if (each->cmsg_type == datapath::kIpv6FlowInfo) arrival.flow_label = ntohl(value) & 0xf'ffff;
    }
    return arrival;
  }

  static constexpr int kTimeoutMilliseconds = 1000;

  FileDescriptor socket_ = udp_socket();
  sockaddr_in6 address_{};
  std::array<std::byte, 1> byte_{};
  iovec part_{};
};

}  // namespace

void check_traffic_class(const host::Config& config, Findings& findings) {
  LoopbackTrial trial;
  if (!trial.open()) {
    findings.fail("loopback", datapath::with_reason("cannot be used", errno),
                  "ip link set dev lo up");
    return;
  }
  constexpr std::uint32_t kLabel = 0xabcde;
  const wire::DscpMap& map = config.wire.dscp;
  for (const wire::Dscp dscp :
       {map.control, map.no_trim, map.trimmable, map.trimmable_retransmission}) {
    for (const wire::Ecn ecn : {wire::Ecn::kCapable0, wire::Ecn::kCongested}) {
      const std::uint8_t sent = wire::traffic_byte(dscp, ecn);
      const auto arrived = trial.send(sent, kLabel);
      if (!arrived) {
        findings.fail("loopback", "a packet to ::1 did not arrive",
                      "ip link set dev lo up; `nft list ruleset` shows what may drop it");
        return;
      }
      if (arrived->traffic_byte != sent) {
        findings.fail("DSCP and ECN",
                      fmt::format("{:#04x} was sent to ::1 and arrived as {:#04x}", sent,
                                  arrived->traffic_byte),
                      "`nft list ruleset` and `tc filter show dev lo` show what rewrites it");
        return;
      }
      if (arrived->flow_label != kLabel) {
        findings.warn(
            "flow label",
            fmt::format("{:#x} was sent to ::1 and arrived as {:#x}", kLabel, arrived->flow_label),
            "sysctl -w net.ipv6.flowlabel_consistency=0 net.ipv6.auto_flowlabels=0");
        return;
      }
    }
  }
  findings.ok("DSCP and ECN", "arrive as they were sent, on ::1");
  findings.ok("flow label", "arrives as it was sent, on ::1");
}

void check_sockets(const host::Config& config, Findings& findings) {
  check_options(config, findings);
  check_steering(findings);
  check_raw(config, findings);
  for (const Buffer& buffer : std::to_array<Buffer>({
           {"receive buffer", SO_RCVBUF, SO_RCVBUFFORCE, "net.core.rmem_max"},
           {"send buffer", SO_SNDBUF, SO_SNDBUFFORCE, "net.core.wmem_max"},
       })) {
    check_buffer(buffer, config.socket_buffer, findings);
  }
}

void check_machine(const host::Config& config, Findings& findings) {
  check_descriptors(config, findings);
  check_kernel(findings);
  check_clock(findings);
}

}  // namespace openmrc::tools::doctor
