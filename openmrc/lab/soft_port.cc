// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/soft_port.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "openmrc/lab/offload.h"
#include "openmrc/softswitch/limits.h"

namespace openmrc::lab {
namespace {

constexpr std::size_t kFrameSizeMax = 10 + 14 + softswitch::kPacketSizeMax;

std::string because(std::string_view what, const End& end) {
  return fmt::format("{} on {} of '{}': {}", what, end.interface, end.space, std::strerror(errno));
}

// "02:00:..." as bytes.
void put_mac(const std::string& text, std::byte* place) {
  for (std::size_t i = 0; i < ETH_ALEN; ++i) {
    unsigned value = 0;
    std::from_chars(text.data() + 3 * i, text.data() + 3 * i + 2, value, 16);
    place[i] = static_cast<std::byte>(value);
  }
}

}  // namespace

SoftPort::Burst::Burst() : room_(kBurstMax * kFrameSizeMax) {}

Result<SoftPort, std::string> SoftPort::open(const End& own, const End& other) {
  const int fd = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return failure(because("cannot open a packet socket", own));
  Header header{};
  put_mac(other.mac, &header[kOffloadSize]);
  put_mac(own.mac, &header[kOffloadSize + ETH_ALEN]);
  header[kOffloadSize + 2 * ETH_ALEN] = std::byte{ETH_P_IPV6 >> 8};
  header[kOffloadSize + 2 * ETH_ALEN + 1] = std::byte{ETH_P_IPV6 & 0xff};
  SoftPort port(fd, header);
  const int on = 1;
  constexpr int kPortBuffer = 4 * 1024 * 1024;
  if (setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) != 0 ||
      setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof(on)) != 0 ||
      setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kPortBuffer, sizeof(kPortBuffer)) != 0 ||
      setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &kPortBuffer, sizeof(kPortBuffer)) != 0) {
    return failure(because("cannot set up a packet socket", own));
  }
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_IPV6);
  address.sll_ifindex = static_cast<int>(if_nametoindex(own.interface.c_str()));
  if (address.sll_ifindex == 0 ||
      bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return failure(because("cannot bind a packet socket", own));
  }
  return port;
}

SoftPort::SoftPort(SoftPort&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), header_(other.header_) {}

SoftPort::~SoftPort() {
  if (socket_ >= 0) close(socket_);
}

void SoftPort::receive(Burst& burst) const {
  std::array<iovec, kBurstMax> places{};
  std::array<mmsghdr, kBurstMax> messages{};
  for (std::size_t i = 0; i < kBurstMax; ++i) {
    places[i] = {&burst.room_[i * kFrameSizeMax], kFrameSizeMax};
    messages[i].msg_hdr.msg_iov = &places[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  burst.count_ = 0;
  const int got = recvmmsg(socket_, messages.data(), kBurstMax, 0, nullptr);
  for (std::size_t i = 0; std::cmp_less(i, got); ++i) {
    const std::size_t size = messages[i].msg_len;
    if (size < header_.size()) continue;
    const std::span<std::byte> whole(&burst.room_[i * kFrameSizeMax], size);
    Offload offload{};
    std::memcpy(&offload, whole.data(), sizeof(offload));
    complete_checksum(offload, whole.subspan(kOffloadSize));
    burst.packets_[burst.count_++] = whole.subspan(header_.size());
  }
}

void SoftPort::send(std::span<const ConstBytes> packets) const {
  std::array<std::array<iovec, 2>, kBurstMax> pieces{};
  std::array<mmsghdr, kBurstMax> messages{};
  const std::size_t count = std::min(packets.size(), kBurstMax);
  for (std::size_t i = 0; i < count; ++i) {
    // The system call only reads them.
    pieces[i][0] = {const_cast<std::byte*>(header_.data()), header_.size()};
    pieces[i][1] = {const_cast<std::byte*>(packets[i].data()), packets[i].size()};
    messages[i].msg_hdr.msg_iov = pieces[i].data();
    messages[i].msg_hdr.msg_iovlen = 2;
  }
  // The one that it stops at is lost, and must not get a second try.
  for (std::size_t done = 0; done < count; ++done) {
    const int sent = sendmmsg(socket_, &messages[done], static_cast<unsigned>(count - done), 0);
    if (sent > 0) done += static_cast<std::size_t>(sent);
  }
}

}  // namespace openmrc::lab
