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

sockaddr_in6 socket_address(const wire::Ipv6Address& address, std::uint16_t port);

// "what: No such device", from errno.
std::string with_reason(std::string_view what, int error_number);

// Takes what arrives at the UDP port of the plane. Joined to those of other shards by SO_REUSEPORT
// and the steering program. Adds to `notices` what could not be had.
Result<FileDescriptor, Error> open_receive_socket(const Settings& settings, const Port& port,
                                                  std::vector<Error>& notices);

// Sends with a fixed source port, half of an EV, and with `traffic_byte` unless a message says
// otherwise. Receives nothing. Fails with errno, because the caller may do something about it.
Result<FileDescriptor, int> open_send_socket(const Settings& settings, const Port& port,
                                             std::uint16_t source_port, std::uint8_t traffic_byte);

// Sends whole IPv6 packets.
Result<FileDescriptor, Error> open_raw_socket(const Settings& settings, const Port& port);

// Whether sockets of this mode leave the UDP checksum out. The exact path of kUsid changes the
// destination address on the way, so no checksum could be right at its end. Elsewhere it is left
// out too, since the ICRC covers more; but the kernel segments only what has one.
constexpr bool omits_checksum(const Settings& settings) {
  return settings.mode != Mode::kUdp || settings.segments_max <= 1;
}

}  // namespace openmrc::datapath
