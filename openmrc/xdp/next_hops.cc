// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/xdp/next_hops.h"

#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "openmrc/base/bytes.h"
#include "openmrc/datapath/netlink.h"
#include "openmrc/datapath/sockets.h"

namespace openmrc::xdp {
namespace {

using datapath::for_each_attribute;
using datapath::for_each_message;
using datapath::record_at;

constexpr std::size_t kAnswerMax = 4096;
constexpr std::size_t kMacSize = 6;

// A question about an address: header, body, the address, an interface.
template <class Body>
struct Question {
  nlmsghdr header{};
  Body body{};
  rtattr address_attribute{};
  std::array<std::byte, wire::Ipv6Address{}.bytes.size()> address{};
  rtattr interface_attribute{};
  int interface_index = 0;
};

template <class Body>
void set_attribute(rtattr& attribute, unsigned short type, const Body& value) {
  attribute = {.rta_len = static_cast<unsigned short>(sizeof attribute + sizeof value),
               .rta_type = type};
}

// The kernel answers before send returns. Empty: it did not.
template <class Body>
ConstBytes ask(int socket, const Question<Body>& question,
               std::array<std::byte, kAnswerMax>& answer) {
  if (::send(socket, &question, question.header.nlmsg_len, 0) < 0) return {};
  const ssize_t size = ::recv(socket, answer.data(), answer.size(), MSG_DONTWAIT);
  return size <= 0 ? ConstBytes{} : ConstBytes(answer).first(static_cast<std::size_t>(size));
}

std::optional<wire::Ipv6Address> address_in(ConstBytes value) {
  wire::Ipv6Address address;
  if (value.size() < address.bytes.size()) return std::nullopt;
  std::ranges::copy(value.first(address.bytes.size()), address.bytes.begin());
  return address;
}

std::optional<wire::MacAddress> mac_in(ConstBytes value) {
  if (value.size() < kMacSize) return std::nullopt;
  std::uint64_t mac = 0;
  for (const std::byte byte : value.first(kMacSize)) {
    mac = mac << 8 | std::to_integer<std::uint64_t>(byte);
  }
  return wire::MacAddress(mac);
}

}  // namespace

Result<NextHops, datapath::Error> NextHops::open(int interface_index) {
  datapath::FileDescriptor socket(
      ::socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket.is_open()) {
    return failure(datapath::Error{
        .what = datapath::with_reason("cannot ask for routes (netlink)", errno), .remedy = {}});
  }
  return NextHops(std::move(socket), interface_index);
}

std::optional<wire::MacAddress> NextHops::find(const wire::Ipv6Address& to, Instant now) {
  std::uint64_t prefix = 0;
  std::memcpy(&prefix, to.bytes.data(), kPrefixBytes);
  Entry& entry = entries_[(prefix * 0x9e37'79b9'7f4a'7c15) >> 58];
  static_assert(kEntries == 64, "six bits of the hash");
  if (entry.prefix == prefix && now < entry.until) [[likely]]
    return entry.mac;
  const auto gateway = gateway_to(to);
  const auto found = gateway ? neighbour(*gateway) : std::nullopt;
  entry = {.prefix = prefix,
           .until = now + (found ? kKnownFor : kUnknownFor),
           .mac = found ? std::optional(found->mac) : std::nullopt};
  return found && found->is_confirmed ? entry.mac : std::nullopt;
}

// The address of the router, or that of the destination itself where there is none.
std::optional<wire::Ipv6Address> NextHops::gateway_to(const wire::Ipv6Address& to) {
  Question<rtmsg> question;
  question.header = {.nlmsg_len = sizeof question,
                     .nlmsg_type = RTM_GETROUTE,
                     .nlmsg_flags = NLM_F_REQUEST,
                     .nlmsg_seq = 0,
                     .nlmsg_pid = 0};
  question.body.rtm_family = AF_INET6;
  question.body.rtm_dst_len = 128;
  set_attribute(question.address_attribute, RTA_DST, to.bytes);
  question.address = to.bytes;
  set_attribute(question.interface_attribute, RTA_OIF, interface_index_);
  question.interface_index = interface_index_;

  std::array<std::byte, kAnswerMax> answer;
  std::optional<wire::Ipv6Address> gateway;
  for_each_message(ask(socket_.get(), question, answer), [&](const nlmsghdr& header,
                                                             ConstBytes body) {
    const auto route = record_at<rtmsg>(body);
    if (header.nlmsg_type != RTM_NEWROUTE || !route || route->rtm_type != RTN_UNICAST) return;
    gateway = to;
    int by = interface_index_;
    for_each_attribute(datapath::after(body, sizeof *route), [&](unsigned type, ConstBytes value) {
      if (type == RTA_GATEWAY) gateway = address_in(value);
      if (type == RTA_OIF) by = record_at<int>(value).value_or(0);
    });
    if (by != interface_index_) gateway.reset();
  });
  return gateway;
}

std::optional<NextHops::Neighbour> NextHops::neighbour(const wire::Ipv6Address& address) {
  Question<ndmsg> question;
  question.header = {.nlmsg_len = sizeof question - sizeof question.interface_attribute -
                                  sizeof question.interface_index,
                     .nlmsg_type = RTM_GETNEIGH,
                     .nlmsg_flags = NLM_F_REQUEST,
                     .nlmsg_seq = 0,
                     .nlmsg_pid = 0};
  question.body.ndm_family = AF_INET6;
  question.body.ndm_ifindex = interface_index_;
  set_attribute(question.address_attribute, NDA_DST, address.bytes);
  question.address = address.bytes;

  std::array<std::byte, kAnswerMax> answer;
  std::optional<Neighbour> found;
  for_each_message(ask(socket_.get(), question, answer), [&](const nlmsghdr& header,
                                                             ConstBytes body) {
    const auto entry = record_at<ndmsg>(body);
    if (header.nlmsg_type != RTM_NEWNEIGH || !entry) return;
    constexpr unsigned kUsable =
        NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE | NUD_DELAY;
    constexpr unsigned kConfirmed = NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE;
    if ((entry->ndm_state & kUsable) == 0) return;
    for_each_attribute(datapath::after(body, sizeof *entry), [&](unsigned type, ConstBytes value) {
      const auto mac = type == NDA_LLADDR ? mac_in(value) : std::nullopt;
      if (mac) found = {.mac = *mac, .is_confirmed = (entry->ndm_state & kConfirmed) != 0};
    });
  });
  return found;
}

}  // namespace openmrc::xdp
