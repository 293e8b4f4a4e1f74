// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/address_text.h"

#include <arpa/inet.h>

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace openmrc::host {

std::optional<wire::Ipv6Address> parse_address(const std::string& text) {
  wire::Ipv6Address address;
  if (inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1) return address;
  in_addr ipv4{};
  if (inet_pton(AF_INET, text.c_str(), &ipv4) != 1) return std::nullopt;
  return wire::mapped(wire::Ipv4Address(ntohl(ipv4.s_addr)));
}

bool is_listen_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view port = text.substr(colon + 1);
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc{} || end != port.data() + port.size() || number == 0) return false;
  std::string_view address = text.substr(0, colon);
  const bool is_ipv6 = address.find(':') != std::string_view::npos;
  if (is_ipv6) {
    if (!address.starts_with('[') || !address.ends_with(']')) return false;
    address = address.substr(1, address.size() - 2);
  }
  return parse_address(std::string(address)).has_value();
}

}  // namespace openmrc::host
