// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "openmrc/datapath/arrival.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/datapath/socket_options.h"
#include "openmrc/datapath/sockets.h"
#include "tools/mrc/doctor/findings.h"

namespace openmrc::tools::doctor {
namespace {

using datapath::Arrival;
using datapath::FileDescriptor;
using datapath::SocketAddress;

// One datagram to ourselves on ::1 or 127.0.0.1, as it arrives.
class LoopbackTrial {
 public:
  explicit LoopbackTrial(wire::IpVersion version)
      : is_ipv4_(version == wire::IpVersion::kV4),
        own_(is_ipv4_ ? wire::mapped(wire::Ipv4Address(0x7f00'0001))
                      : wire::Ipv6Address::of({0, 0, 0, 0, 0, 0, 0, 1})),
        socket_(::socket(is_ipv4_ ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                         0)) {}

  [[nodiscard]] std::string address() const { return to_string(own_); }

  bool open() {
    if (!socket_.is_open()) return false;
    to_ = SocketAddress(own_, 0);
    const bool reports = is_ipv4_ ? set(IPPROTO_IP, IP_RECVTOS, 1) && set(IPPROTO_IP, IP_PKTINFO, 1)
                                  : set(IPPROTO_IPV6, IPV6_RECVTCLASS, 1) &&
                                        set(IPPROTO_IPV6, datapath::kIpv6FlowInfo, 1) &&
                                        set(IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
    socklen_t size = to_.size();
    return reports && ::bind(socket_.get(), to_.get(), to_.size()) == 0 &&
           ::getsockname(socket_.get(), to_.get(), &size) == 0;
  }

  // IPv4 has no flow label.
  std::optional<Arrival> send(std::uint8_t traffic_byte, std::uint32_t flow_label) {
    const bool is_set = is_ipv4_ ? set(IPPROTO_IP, IP_TOS, traffic_byte)
                                 : set(IPPROTO_IPV6, IPV6_TCLASS, traffic_byte);
    if (!is_set) return std::nullopt;
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(std::uint32_t))> control{};
    msghdr message = make_message();
    message.msg_namelen = to_.size();
    if (!is_ipv4_) {
      const std::uint32_t label = htonl(flow_label);
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = IPPROTO_IPV6;
      header->cmsg_type = datapath::kIpv6FlowInfo;
      header->cmsg_len = CMSG_LEN(sizeof label);
      std::memcpy(CMSG_DATA(header), &label, sizeof label);
    }
    if (::sendmsg(socket_.get(), &message, 0) < 0) return std::nullopt;
    return receive();
  }

 private:
  bool set(int level, int option, int value) {
    return ::setsockopt(socket_.get(), level, option, &value, sizeof value) == 0;
  }

  msghdr make_message() {
    part_ = {.iov_base = byte_.data(), .iov_len = byte_.size()};
    msghdr message{};
    message.msg_name = to_.get();
    message.msg_iov = &part_;
    message.msg_iovlen = 1;
    return message;
  }

  std::optional<Arrival> receive() {
    constexpr int kTimeoutMilliseconds = 1000;
    pollfd asked{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&asked, 1, kTimeoutMilliseconds) <= 0) return std::nullopt;
    alignas(cmsghdr) std::array<std::byte, 256> control{};
    SocketAddress from = to_;
    msghdr message = make_message();
    message.msg_name = from.get();
    message.msg_namelen = from.size();
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (::recvmsg(socket_.get(), &message, 0) < 0) return std::nullopt;
    const auto read = datapath::read_message(message);
    return read ? std::optional(read->arrival) : std::nullopt;
  }

  bool is_ipv4_;
  wire::Ipv6Address own_;
  SocketAddress to_;
  FileDescriptor socket_;
  std::array<std::byte, 1> byte_{};
  iovec part_{};
};

constexpr std::uint32_t kLabel = 0xabcde;

// False: something is wrong, and has been said.
bool check_one(LoopbackTrial& trial, std::uint8_t sent, bool has_label, Findings& findings) {
  const auto arrived = trial.send(sent, kLabel);
  if (!arrived) {
    findings.fail(
        "loopback", fmt::format("a packet to {} did not arrive", trial.address()),
        Remedy::by({"ip link set dev lo up"}, "; `nft list ruleset` shows what may drop it"));
    return false;
  }
  if (arrived->traffic_byte != sent) {
    findings.fail("DSCP and ECN",
                  fmt::format("{:#04x} was sent to {} and arrived as {:#04x}", sent,
                              trial.address(), arrived->traffic_byte),
                  "`nft list ruleset` and `tc filter show dev lo` show what rewrites it");
    return false;
  }
  if (has_label && arrived->flow_label != kLabel) {
    findings.warn("flow label",
                  fmt::format("{:#x} was sent to {} and arrived as {:#x}", kLabel, trial.address(),
                              arrived->flow_label),
                  Remedy::by({"sysctl -w net.ipv6.flowlabel_consistency=0 "
                              "net.ipv6.auto_flowlabels=0"}));
    return false;
  }
  return true;
}

}  // namespace

void check_traffic_class(const host::Config& config, Findings& findings) {
  const bool has_label = ip_version(config) == wire::IpVersion::kV6;
  LoopbackTrial trial(ip_version(config));
  if (!trial.open()) {
    findings.fail("loopback", datapath::with_reason("cannot be used", errno),
                  Remedy::by({"ip link set dev lo up"}));
    return;
  }
  const wire::DscpMap& map = config.wire.dscp;
  for (const wire::Dscp dscp :
       {map.control, map.no_trim, map.trimmable, map.trimmable_retransmission}) {
    for (const wire::Ecn ecn : {wire::Ecn::kCapable0, wire::Ecn::kCongested}) {
      if (!check_one(trial, wire::traffic_byte(dscp, ecn), has_label, findings)) return;
    }
  }
  findings.ok("DSCP and ECN", "arrive as they were sent, on " + trial.address());
  if (has_label) findings.ok("flow label", "arrives as it was sent, on " + trial.address());
}

}  // namespace openmrc::tools::doctor
