// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "openmrc/wire/field/ip_address.h"

namespace openmrc::host {

// An address of IPv6, or of IPv4, which becomes a mapped one; nothing if the text is neither.
std::optional<wire::Ipv6Address> parse_address(const std::string& text);

// Whether it is an address and a port, as in "127.0.0.1:9471" or "[::1]:9471".
bool is_listen_address(std::string_view text);

}  // namespace openmrc::host
