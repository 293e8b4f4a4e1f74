// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/link_tap.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <span>

#include "openmrc/lab/layout.h"
#include "openmrc/lab/netns.h"
#include "openmrc/lab/offload.h"

namespace openmrc::lab {
namespace {

using datapath::FileDescriptor;

constexpr std::size_t kBurst = 32;
constexpr std::size_t kTapFrameSizeMax = 65536 + 256;  // what one call may send, and headers
constexpr int kSocketBuffer = 64 * 1024 * 1024;

std::string tap_problem(std::string_view what, const End& end) {
  return fmt::format("{} on {} of '{}': {}", what, end.interface, end.space, std::strerror(errno));
}

bool set_options(int socket) {
  const int on = 1;
  return setsockopt(socket, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) == 0 &&
         setsockopt(socket, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) == 0 &&
         setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &kSocketBuffer, sizeof(kSocketBuffer)) == 0;
}

bool bind_to(int socket, const std::string& interface) {
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(if_nametoindex(interface.c_str()));
  return address.sll_ifindex != 0 &&
         bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

// Where the kernel puts what it says of a frame.
struct Place {
  iovec bytes{};
  sockaddr_ll from{};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(timespec))> control{};
};

msghdr header_of(Place& place) {
  msghdr header{};
  header.msg_iov = &place.bytes;
  header.msg_iovlen = 1;
  header.msg_name = &place.from;
  header.msg_namelen = sizeof(place.from);
  header.msg_control = place.control.data();
  header.msg_controllen = place.control.size();
  return header;
}

Instant time_of(msghdr& header) {
  timespec time{};
  for (cmsghdr* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_TIMESTAMPNS) continue;
    std::memcpy(&time, CMSG_DATA(each), sizeof(time));
  }
  return Instant(std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec);
}

void give_out(mmsghdr& message, const Place& place, const LinkTap::Taker& take) {
  const std::span<std::byte> whole(static_cast<std::byte*>(place.bytes.iov_base), message.msg_len);
  if (whole.size() < sizeof(Offload)) return;
  Offload offload{};
  std::memcpy(&offload, whole.data(), sizeof(offload));
  LinkTap::Frame frame{.bytes = {},
                       .time = time_of(message.msg_hdr),
                       .sent_by_t0 = place.from.sll_pkttype == PACKET_OUTGOING};
  for_each_frame(offload, whole.subspan(sizeof(offload)), [&](ConstBytes bytes) {
    frame.bytes = bytes;
    take(frame);
  });
}

}  // namespace

LinkTap::LinkTap(FileDescriptor socket)
    : socket_(std::move(socket)), room_(kBurst * kTapFrameSizeMax) {}

Result<LinkTap, std::string> LinkTap::open(const Spec& spec, const fabric::LinkId& link) {
  const End end = cable_of(spec, link).t0;
  auto visit = SpaceVisit::enter(end.space);
  if (!visit) return failure(visit.error());
  // With protocol 0 nothing comes before it is bound.
  FileDescriptor socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return failure(tap_problem("cannot open a packet socket", end));
  if (!set_options(socket.get())) {
    return failure(tap_problem("cannot set up a packet socket", end));
  }
  if (!bind_to(socket.get(), end.interface)) {
    return failure(tap_problem("cannot bind a packet socket", end));
  }
  visit->stay();
  return LinkTap(std::move(socket));
}

void LinkTap::receive(Duration at_most, const Taker& take) {
  pollfd wait{.fd = socket_.get(), .events = POLLIN, .revents = 0};
  if (poll(&wait, 1, static_cast<int>(at_most.raw() / 1'000'000)) <= 0) return;
  std::array<Place, kBurst> places{};
  std::array<mmsghdr, kBurst> messages{};
  for (std::size_t i = 0; i < kBurst; ++i) {
    places[i].bytes = {&room_[i * kTapFrameSizeMax], kTapFrameSizeMax};
    messages[i].msg_hdr = header_of(places[i]);
  }
  // Nothing also when the link has just gone down: the next call waits until it is up again.
  const int got = recvmmsg(socket_.get(), messages.data(), kBurst, 0, nullptr);
  for (std::size_t i = 0; std::cmp_less(i, got); ++i) give_out(messages[i], places[i], take);
}

std::uint64_t LinkTap::dropped() const {
  tpacket_stats statistics{};
  socklen_t size = sizeof(statistics);
  const bool known =
      getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &statistics, &size) == 0;
  return known ? statistics.tp_drops : 0;
}

}  // namespace openmrc::lab
