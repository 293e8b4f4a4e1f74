// SPDX-License-Identifier: BSD-3-Clause
// Packets that a test writes itself, in the name of whomever it likes. Needs root.
#pragma once

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>

#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/wire/encode.h"
#include "openmrc/wire/packet.h"

namespace openmrc::test {

inline wire::Ipv6Address address_of(const std::string& text) {
  wire::Ipv6Address address;
  if (inet_pton(AF_INET6, text.c_str(), address.bytes.data()) != 1) {
    throw std::runtime_error(text + " is no IPv6 address");
  }
  return address;
}

// RFC 8200, 8.1. `packet` is from its IPv6 header on.
inline void set_udp_checksum(MutableBytes packet) {
  constexpr std::size_t kAddresses = 8;
  constexpr std::size_t kChecksum = 6;
  const MutableBytes udp = packet.subspan(wire::kIpv6Size);
  udp[kChecksum] = udp[kChecksum + 1] = std::byte{0};
  std::uint64_t sum = udp.size() + IPPROTO_UDP;
  const auto add = [&sum](ConstBytes bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      sum += std::to_integer<std::uint64_t>(bytes[i]) << (i % 2 == 0 ? 8 : 0);
    }
  };
  add(packet.subspan(kAddresses, 32));
  add(udp);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  const auto checksum = static_cast<std::uint16_t>(sum == 0xffff ? 0xffff : ~sum);
  udp[kChecksum] = static_cast<std::byte>(checksum >> 8);
  udp[kChecksum + 1] = static_cast<std::byte>(checksum & 0xff);
}

class RawSender {
 public:
  RawSender() : socket_(socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW)) {
    if (!socket_.is_open())
      throw std::runtime_error(fmt::format("no raw socket: {}", std::strerror(errno)));
  }

  // Over plain IPv6.
  void send(const wire::Packet& packet) {
    const std::size_t size = wire::encode_packet(packet, wire::WireSettings{}, bytes_);
    set_udp_checksum(MutableBytes(bytes_).first(size));
    sockaddr_in6 to{};
    to.sin6_family = AF_INET6;
    const auto& address = std::get<wire::Ipv6Route>(packet.route).destination.bytes;
    std::memcpy(&to.sin6_addr, address.data(), address.size());
    const ssize_t done = sendto(socket_.get(), bytes_.data(), size, 0,
                                reinterpret_cast<const sockaddr*>(&to), sizeof to);
    if (done < 0 && errno != ENOBUFS) {
      throw std::runtime_error(fmt::format("cannot send: {}", std::strerror(errno)));
    }
  }

 private:
  datapath::FileDescriptor socket_;
  std::array<std::byte, 2048> bytes_{};
};

// How many, for how long, how many in a second. What is zero has no limit.
struct Pace {
  std::uint64_t count = 0;
  double seconds = 0;
  std::uint64_t rate = 0;
};

// Calls `act` at that pace; returns how often.
template <class Act>
std::uint64_t at_pace(const Pace& pace, Act act) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::uint64_t done = 0;
  while (pace.count == 0 || done < pace.count) {
    const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
    if (pace.seconds > 0 && elapsed >= pace.seconds) break;
    if (pace.rate > 0 && static_cast<double>(done) > elapsed * static_cast<double>(pace.rate)) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      continue;
    }
    act();
    ++done;
  }
  return done;
}

}  // namespace openmrc::test
