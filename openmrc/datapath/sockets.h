// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/datapath/error.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/datapath/open.h"
#include "openmrc/wire/field/constants.h"
#include "openmrc/wire/field/ip_address.h"

// The sockets of a port, each opened with all its options.
namespace openmrc::datapath {

// As the kernel takes it: a mapped address is one of IPv4.
class SocketAddress {
 public:
  SocketAddress() = default;
  SocketAddress(const wire::Ipv6Address& address, std::uint16_t port);

  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&bytes_); }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes_); }
  [[nodiscard]] socklen_t size() const { return size_; }
  [[nodiscard]] int family() const { return size_ == sizeof(sockaddr_in) ? AF_INET : AF_INET6; }

 private:
  sockaddr_in6 bytes_{};  // holds the shorter sockaddr_in as well
  socklen_t size_ = sizeof bytes_;
};

// "what: No such device", from errno.
std::string with_reason(std::string_view what, int error_number);

// Whether other shards are known to have the UDP port.
enum class PortUse : std::uint8_t {
  kFirst,  // none: the kernel must find it free. Who has it nevertheless would share our packets
           // without knowing of our slot.
  kJoins,
};

// Takes what arrives at the UDP port of the plane. Joined to those of other shards by SO_REUSEPORT
// and the steering program. Adds to `notices` what could not be had.
Result<FileDescriptor, Error> open_receive_socket(const Settings& settings, const Port& port,
                                                  PortUse use, std::vector<Error>& notices);

// Sends with a fixed source port, half of an EV, and with `traffic_byte` unless a message says
// otherwise. Receives nothing. Fails with errno, because the caller may do something about it.
Result<FileDescriptor, int> open_send_socket(const Settings& settings, const Port& port,
                                             std::uint16_t source_port, std::uint8_t traffic_byte);

// Sends whole IPv6 packets.
Result<FileDescriptor, Error> open_raw_socket(const Settings& settings, const Port& port);

// Whether sockets of this mode leave the UDP checksum out. The exact path of kUsid changes the
// destination address on the way, so no checksum could be right at its end. Elsewhere it is left
// out too, since the ICRC covers more; but the kernel segments, and joins, only what has one.
constexpr bool omits_checksum(const Settings& settings) {
  return settings.mode != Mode::kUdp || settings.segments_max <= 1;
}

// How many packets one message may carry. Over IPv4 the kernel numbers the packets that it cuts
// apart (Identification), which the ICRC covers and a socket does not show: there one, unless
// nobody looks at the ICRC.
std::size_t segments_max(const Settings& settings);

}  // namespace openmrc::datapath
