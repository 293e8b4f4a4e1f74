// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "openmrc/base/result.h"

// What a Linux device says that it has, read from iproute2's JSON and sysctl's lines. Addresses and
// prefixes stay text: the kernel writes them as RFC 5952 recomfixes, and so do we.
namespace openmrc::fabric {

// 6,144 routes have about a megabyte.
inline constexpr std::size_t kDeviceOutputBytesMax = std::size_t{64} * 1024 * 1024;

struct FoundLink {
  std::uint64_t mtu = 0;
  bool is_up = false;
  bool has_carrier = false;
  std::string mac{};
  std::optional<std::uint64_t> peer_space_id{};  // of a veth whose other end is elsewhere
};

struct FoundHop {
  std::string via{};  // empty: the interface itself
  std::string dev{};

  auto operator<=>(const FoundHop&) const = default;
};

struct FoundRoute {
  std::string to{};      // with its length
  std::string type{};    // empty: unicast
  std::string action{};  // of seg6local; empty: an ordinary route
  std::string flavours{};
  std::string decapsulates_into{};  // the table of End.DT6
  std::uint64_t block_length = 0;
  std::uint64_t node_length = 0;
  std::string source{};
  std::string protocol{};
  std::uint64_t metric = 0;
  std::vector<FoundHop> hops{};  // one at least
};

struct FoundNeighbour {
  std::string mac{};
  std::string state{};
};

struct FoundRule {
  std::string to{};
  std::string protocol{};
  std::string table{};

  auto operator<=>(const FoundRule&) const = default;
};

struct Found {
  std::map<std::string, FoundLink, std::less<>> links{};
  std::vector<std::pair<std::string, std::string>> addresses{};  // interface, address with length
  std::vector<FoundRoute> routes{};                              // of the main table
  std::vector<FoundRoute> usid_routes{};                         // of the table kUsidTable
  std::map<std::pair<std::string, std::string>, FoundNeighbour> neighbours{};  // interface, address
  std::vector<FoundRule> rules{};
  std::map<std::string, std::string, std::less<>> settings{};  // net.ipv6.conf.all.forwarding
  std::map<std::uint64_t, std::string> spaces{};               // of cables' other ends
};

// What the commands of `device_questions` printed, in their order.
struct DeviceOutput {
  std::string links{};
  std::string addresses{};
  std::string routes{};
  std::string usid_routes{};  // may be empty: the table is made by its first route
  std::string neighbours{};
  std::string rules{};
  std::string settings{};
  std::string spaces{};  // may be empty
};

// The error names the command and what is wrong with its output.
Result<Found, std::string> read_device(const DeviceOutput& output);

}  // namespace openmrc::fabric
