// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "openmrc/wire/field/ip_address.h"

// What the kernel says when it is asked. Changes nothing.
namespace openmrc::tools::doctor {

struct Interface {
  int index = 0;
  std::uint32_t mtu = 0;
  bool is_up = false;
  bool has_carrier = false;
};
std::optional<Interface> interface_named(const std::string& name);

// Which interface has the address; empty: none.
std::string interface_with(const wire::Ipv6Address& address);

// Where a packet to the address would go.
struct RouteAnswer {
  std::string interface{};
  bool is_local = false;         // to this host
  bool is_refused = false;       // blackhole, unreachable, prohibit
  bool is_decapsulated = false;  // seg6local End.DT6: the packet inside goes on
};
// `only_udp`: as rules for UDP see it. Nothing: there is no route.
std::optional<RouteAnswer> route_to(const wire::Ipv6Address& address, bool only_udp);

// A file's first word, as files in /proc/sys and /sys have it; empty if there is no such file.
std::string first_word(const std::string& file);

}  // namespace openmrc::tools::doctor
