// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/address_text.h"

#include <arpa/inet.h>

namespace openmrc::host {

std::optional<wire::Ipv6Address> parse_address(const std::string& text) {
  wire::Ipv6Address address;
  if (inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1) return address;
  in_addr ipv4{};
  if (inet_pton(AF_INET, text.c_str(), &ipv4) != 1) return std::nullopt;
  return wire::mapped(wire::Ipv4Address(ntohl(ipv4.s_addr)));
}

}  // namespace openmrc::host
