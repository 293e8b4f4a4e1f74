// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/link_watch.h"

#include <fmt/format.h>
#include <linux/if.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "openmrc/datapath/netlink.h"

namespace openmrc::host {
namespace {

// What the kernel puts into one message at most when it lists everything.
constexpr std::size_t kMessagesSize = 32 * 1024;

Error socket_error(std::string_view what) {
  return {.what = fmt::format("cannot watch links: {}: {}", what,
                              std::error_code(errno, std::generic_category()).message()),
          .remedy = {}};
}

bool is_up(unsigned flags) {
  constexpr unsigned kAll = IFF_UP | IFF_RUNNING | IFF_LOWER_UP;
  return (flags & kAll) == kAll;
}

struct Interface {
  std::string_view name{};  // empty if there is none
  std::uint32_t mtu = 0;
};

Interface interface_in(std::span<const std::byte> attributes) {
  Interface interface;
  datapath::for_each_attribute(attributes, [&](unsigned type, std::span<const std::byte> value) {
    if (type == IFLA_IFNAME) {
      const std::string_view name(reinterpret_cast<const char*>(value.data()), value.size());
      interface.name = name.substr(0, name.find('\0'));
    } else if (type == IFLA_MTU) {
      interface.mtu = datapath::record_at<std::uint32_t>(value).value_or(0);
    }
  });
  return interface;
}

}  // namespace

LinkWatch::LinkWatch(datapath::FileDescriptor socket, std::span<const std::string> interfaces,
                     std::uint32_t mtu_min)
    : socket_(std::move(socket)), mtu_min_(mtu_min) {
  for (const std::string& interface : interfaces) links_.push_back({.interface = interface});
}

Result<LinkWatch, Error> LinkWatch::open(std::span<const std::string> interfaces,
                                         std::uint32_t mtu_min) {
  datapath::FileDescriptor socket(
      ::socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket.is_open()) return failure(socket_error("no netlink socket"));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return failure(socket_error("cannot join the group of link messages"));
  }
  LinkWatch watch(std::move(socket), interfaces, mtu_min);
  // From here on no change is missed: the answer comes after what has happened so far.
  if (!watch.ask_for_all()) return failure(socket_error("cannot send the request"));
  return watch;
}

bool LinkWatch::ask_for_all() {
  struct {
    nlmsghdr header;
    ifinfomsg link;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = RTM_GETLINK;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.link.ifi_family = AF_UNSPEC;
  if (::send(socket_.get(), &request, sizeof request, 0) < 0) return false;
  for (Link& link : links_) link.seen = false;
  list_ = List::kComing;
  return true;
}

std::optional<LinkChange> LinkWatch::next() {
  while (changes_.empty()) {
    if (list_ == List::kDue && !ask_for_all()) return std::nullopt;  // the kernel is busy: later
    if (!read_messages()) return std::nullopt;
  }
  const LinkChange change = changes_.front();
  changes_.pop_front();
  return change;
}

// Whether there was something to read.
bool LinkWatch::read_messages() {
  std::array<std::byte, kMessagesSize> buffer;  // NOLINT: is filled
  sockaddr_nl from{};
  iovec part{.iov_base = buffer.data(), .iov_len = buffer.size()};
  msghdr message{};
  message.msg_name = &from;
  message.msg_namelen = sizeof from;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  const ssize_t size = ::recvmsg(socket_.get(), &message, 0);
  const bool lost_some = size < 0 ? errno == ENOBUFS : (message.msg_flags & MSG_TRUNC) != 0;
  if (lost_some) {
    ask_again();
    return true;
  }
  if (size < 0) return errno == EINTR;
  if (from.nl_pid != 0) return true;  // only the kernel is trusted
  take_messages(std::span(buffer).first(static_cast<std::size_t>(size)));
  return true;
}

void LinkWatch::take_messages(std::span<const std::byte> bytes) {
  datapath::for_each_message(bytes,
                             [&](const nlmsghdr& header, std::span<const std::byte> payload) {
                               // The list changed while it was read: some of it may be missing.
                               if ((header.nlmsg_flags & NLM_F_DUMP_INTR) != 0) ask_again();
                               switch (header.nlmsg_type) {
                                 case RTM_NEWLINK:
                                 case RTM_DELLINK:
                                   take_link(payload, header.nlmsg_type == RTM_NEWLINK);
                                   break;
                                 case NLMSG_DONE:
                                 case NLMSG_ERROR:
                                   end_of_list(header.nlmsg_type == NLMSG_DONE);
                                   break;
                                 default: break;
                               }
                             });
}

void LinkWatch::take_link(std::span<const std::byte> message, bool is_there) {
  const auto info = datapath::record_at<ifinfomsg>(message);
  if (!info) return;
  // A bridge reports its ports with messages of the same kind, of a family of its own.
  if (info->ifi_family != AF_UNSPEC) return;
  const Interface interface = interface_in(datapath::after(message, sizeof *info));
  for (std::size_t plane = 0; plane < links_.size(); ++plane) {
    Link& link = links_[plane];
    if (!link.interface.empty() && link.interface == interface.name) {
      // An older interface of the name may be deleted after the new one has come.
      if (!is_there && link.index != info->ifi_index) continue;
      link.index = is_there ? info->ifi_index : 0;
      link.seen = true;
      link.mtu = is_there ? interface.mtu : 0;
      set(plane, is_there && is_up(info->ifi_flags) && interface.mtu >= mtu_min_);
    } else if (link.index == info->ifi_index && link.index != 0) {
      link.index = 0;  // it has another name now
      set(plane, false);
    }
  }
}

// The kernel takes the next question when the answer to the last one is complete.
void LinkWatch::ask_again() { list_ = list_ == List::kComing ? List::kComingInPart : List::kDue; }

void LinkWatch::end_of_list(bool is_complete) {
  const bool is_whole = is_complete && list_ == List::kComing;
  list_ = is_whole ? List::kTaken : List::kDue;
  if (!is_whole) return;
  for (std::size_t plane = 0; plane < links_.size(); ++plane) {
    if (!links_[plane].seen && !links_[plane].interface.empty()) set(plane, false);
  }
}

void LinkWatch::set(std::size_t plane, bool up) {
  if (links_[plane].up == up) return;
  links_[plane].up = up;
  changes_.push_back({.plane = plane, .up = up});
}

}  // namespace openmrc::host
