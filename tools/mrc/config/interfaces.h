// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/wire/field/ip_version.h"

// The interfaces of this machine, as a configuration needs them.
namespace openmrc::tools::config {

struct Interface {
  std::string name{};
  // The first addresses that others can reach; empty: none.
  std::string ipv6{};
  std::string ipv4{};
  std::uint32_t mtu = 0;
  std::optional<std::uint64_t> bits_per_second{};  // if the driver says so
  bool is_up = false;                              // with carrier
  bool has_device = false;                         // a card, not only software

  [[nodiscard]] const std::string& address(wire::IpVersion version) const {
    return version == wire::IpVersion::kV4 ? ipv4 : ipv6;
  }
};

// The interfaces of a configuration, each with an address of that version.
struct Choice {
  wire::IpVersion version = wire::IpVersion::kV6;
  std::vector<Interface> ports{};
};

// All but loopback, by name.
[[nodiscard]] Result<std::vector<Interface>, std::string> interfaces_here();

// Those for a configuration: the `wanted` ones in their order or, if none are named, those that are
// up and have an address; of these the ones of cards, if there are any. Without a `version` the one
// that gives more ports; of equals, IPv6. The error says what is wrong, and with which.
[[nodiscard]] Result<Choice, std::string> choose(const std::vector<Interface>& here,
                                                 const std::vector<std::string>& wanted,
                                                 std::optional<wire::IpVersion> version);

}  // namespace openmrc::tools::config
