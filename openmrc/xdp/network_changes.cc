// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/xdp/network_changes.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "openmrc/datapath/sockets.h"

namespace openmrc::xdp {

Result<NetworkChanges, datapath::Error> NetworkChanges::watch() {
  datapath::FileDescriptor socket(
      ::socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK | RTMGRP_NEIGH | RTMGRP_IPV6_ROUTE;
  if (!socket.is_open() ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return failure(datapath::Error{
        .what = datapath::with_reason("cannot watch interfaces and routes (netlink)", errno),
        .remedy = {}});
  }
  return NetworkChanges(std::move(socket));
}

// What did not fit into the socket (ENOBUFS) was a change as well.
bool NetworkChanges::take() const {
  bool any = false;
  std::array<std::byte, 8192> buffer;
  for (;;) {
    const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno != ENOBUFS) return any;
    if (size == 0) return any;
    any = true;
  }
}

}  // namespace openmrc::xdp
