// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/doctor/kernel.h"

#include <ifaddrs.h>
#include <linux/lwtunnel.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <span>

#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/datapath/netlink.h"

// Has addresses of its own unless those of netinet/in.h are there.
// clang-format off
#include <linux/seg6_local.h>
// clang-format on

namespace openmrc::tools::doctor {
namespace {

using datapath::FileDescriptor;
using Bytes = std::span<const std::byte>;

constexpr int kAnswerTimeoutMilliseconds = 1000;

ifreq request_for(const std::string& name) {
  ifreq request{};
  std::memcpy(request.ifr_name, name.data(), std::min<std::size_t>(name.size(), IFNAMSIZ - 1));
  return request;
}

// The bytes of an address as the kernel takes them: 4 or 16.
Bytes kernel_bytes(const wire::Ipv6Address& address) {
  const Bytes all = address.bytes;
  return wire::is_mapped_ipv4(address) ? all.last(4) : all;
}
int family_of(const wire::Ipv6Address& address) {
  return wire::is_mapped_ipv4(address) ? AF_INET : AF_INET6;
}

struct Ipv4Question {
  nlmsghdr header;
  rtmsg route;
  rtattr address_attribute;
  std::uint32_t address;
};

Ipv4Question ipv4_question_about(const wire::Ipv6Address& address) {
  Ipv4Question question{};
  question.header.nlmsg_type = RTM_GETROUTE;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.header.nlmsg_len = sizeof question;
  question.route.rtm_family = AF_INET;
  question.route.rtm_dst_len = 32;
  question.route.rtm_flags = RTM_F_FIB_MATCH;
  question.address_attribute.rta_type = RTA_DST;
  question.address_attribute.rta_len = RTA_LENGTH(sizeof question.address);
  std::memcpy(&question.address, kernel_bytes(address).data(), sizeof question.address);
  return question;
}

struct RouteQuestion {
  nlmsghdr header;
  rtmsg route;
  rtattr address_attribute;
  wire::Ipv6Address address;
  rtattr protocol_attribute;
  std::uint8_t protocol;
  std::array<std::uint8_t, 3> pad;
};

RouteQuestion question_about(const wire::Ipv6Address& address, bool only_udp) {
  RouteQuestion question{};
  question.header.nlmsg_type = RTM_GETROUTE;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.header.nlmsg_len =
      only_udp ? sizeof question : offsetof(RouteQuestion, protocol_attribute);
  question.route.rtm_family = AF_INET6;
  question.route.rtm_dst_len = 128;
  question.route.rtm_flags = RTM_F_FIB_MATCH;
  question.address_attribute.rta_type = RTA_DST;
  question.address_attribute.rta_len = RTA_LENGTH(sizeof question.address);
  question.address = address;
  question.protocol_attribute.rta_type = RTA_IP_PROTO;
  question.protocol_attribute.rta_len = RTA_LENGTH(sizeof question.protocol);
  question.protocol = IPPROTO_UDP;
  return question;
}

bool is_end_dt6(Bytes encapsulation) {
  bool found = false;
  datapath::for_each_attribute(encapsulation, [&](unsigned type, Bytes value) {
    const auto action = datapath::record_at<std::uint32_t>(value);
    if (type == SEG6_LOCAL_ACTION) found = action == std::uint32_t{SEG6_LOCAL_ACTION_END_DT6};
  });
  return found;
}

std::string name_of_interface(int index) {
  std::array<char, IF_NAMESIZE> name{};
  return ::if_indextoname(static_cast<unsigned>(index), name.data()) != nullptr ? name.data() : "";
}

RouteAnswer read_route(Bytes message) {
  RouteAnswer answer;
  const auto route = datapath::record_at<rtmsg>(message);
  if (!route) return answer;
  answer.is_local = route->rtm_type == RTN_LOCAL || route->rtm_type == RTN_ANYCAST;
  Bytes encapsulation;
  bool is_segment = false;
  datapath::for_each_attribute(
      datapath::after(message, sizeof *route), [&](unsigned type, Bytes value) {
        if (type == RTA_OIF) {
          answer.interface = name_of_interface(datapath::record_at<int>(value).value_or(0));
        } else if (type == RTA_ENCAP_TYPE) {
          is_segment =
              datapath::record_at<std::uint16_t>(value) == std::uint16_t{LWTUNNEL_ENCAP_SEG6_LOCAL};
        } else if (type == RTA_ENCAP) {
          encapsulation = value;
        }
      });
  answer.is_decapsulated = is_segment && is_end_dt6(encapsulation);
  return answer;
}

// A route that rejects is reported as an error, as no route is.
std::optional<RouteAnswer> read_refusal(Bytes message) {
  const auto error = datapath::record_at<nlmsgerr>(message);
  if (!error || error->error == -ENETUNREACH) return std::nullopt;
  return RouteAnswer{.is_refused = true};
}

}  // namespace

std::optional<Interface> interface_named(const std::string& name) {
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = request_for(name);
  if (name.size() >= IFNAMSIZ || ::ioctl(socket.get(), SIOCGIFINDEX, &request) != 0) {
    return std::nullopt;
  }
  Interface interface{.index = request.ifr_ifindex};
  request = request_for(name);
  if (::ioctl(socket.get(), SIOCGIFMTU, &request) == 0) {
    interface.mtu = static_cast<std::uint32_t>(request.ifr_mtu);
  }
  request = request_for(name);
  if (::ioctl(socket.get(), SIOCGIFFLAGS, &request) == 0) {
    interface.is_up = (request.ifr_flags & IFF_UP) != 0;
    interface.has_carrier = (request.ifr_flags & IFF_RUNNING) != 0;
  }
  return interface;
}

std::string interface_with(const wire::Ipv6Address& address) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != family_of(address)) continue;
    const auto* const has = reinterpret_cast<const std::byte*>(each->ifa_addr);
    const std::size_t at = family_of(address) == AF_INET ? offsetof(sockaddr_in, sin_addr)
                                                         : offsetof(sockaddr_in6, sin6_addr);
    const Bytes wanted = kernel_bytes(address);
    if (std::memcmp(has + at, wanted.data(), wanted.size()) == 0) return each->ifa_name;
  }
  return {};
}

std::optional<RouteAnswer> route_to(const wire::Ipv6Address& address, bool only_udp) {
  const FileDescriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket.is_open()) return std::nullopt;
  const auto ask = [&](const auto& question) {
    return ::send(socket.get(), &question, question.header.nlmsg_len, 0) >= 0;
  };
  if (!(wire::is_mapped_ipv4(address) ? ask(ipv4_question_about(address))
                                      : ask(question_about(address, only_udp)))) {
    return std::nullopt;
  }
  pollfd asked{.fd = socket.get(), .events = POLLIN, .revents = 0};
  if (::poll(&asked, 1, kAnswerTimeoutMilliseconds) <= 0) return std::nullopt;
  std::array<std::byte, 8192> buffer{};
  const ssize_t size = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
  if (size < 0) return std::nullopt;
  std::optional<RouteAnswer> answer;
  datapath::for_each_message(Bytes(buffer).first(static_cast<std::size_t>(size)),
                             [&](const nlmsghdr& header, Bytes payload) {
                               if (header.nlmsg_type == RTM_NEWROUTE) answer = read_route(payload);
                               if (header.nlmsg_type == NLMSG_ERROR) answer = read_refusal(payload);
                             });
  return answer;
}

std::string first_word(const std::string& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

}  // namespace openmrc::tools::doctor
