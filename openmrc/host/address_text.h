// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "openmrc/wire/field/ip_address.h"

namespace openmrc::host {

// An address of IPv6, or of IPv4, which becomes a mapped one; nothing if the text is neither.
std::optional<wire::Ipv6Address> parse_address(const std::string& text);

}  // namespace openmrc::host
