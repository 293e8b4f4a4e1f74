// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/softswitch/settings.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <span>
#include <utility>

namespace openmrc::softswitch {
namespace {

using Checked = Result<void, SwitchError>;

Checked check_dscp(const wire::DscpMap& map) {
  std::array all{map.control, map.no_trim,         map.trimmable, map.trimmable_retransmission,
                 map.trimmed, map.trimmed_last_hop};
  std::ranges::sort(all);
  const auto* const same = std::ranges::adjacent_find(all);
  if (same == all.end()) return {};
  return failure(SwitchError{SwitchFault::kDscp, same->raw()});
}

Checked check_usids(std::span<const UsidRoute> routes, std::size_t ports) {
  std::bitset<std::size_t{wire::Usid::kMax} + 1> seen;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const auto& [usid, port] = routes[i];
    if (usid == wire::kEndOfCarrier) return failure(SwitchError{SwitchFault::kUsidZero, i});
    if (seen[usid.raw()]) return failure(SwitchError{SwitchFault::kUsidTwice, i});
    if (port.raw() >= ports) return failure(SwitchError{SwitchFault::kUsidPort, i});
    seen.set(usid.raw());
  }
  return {};
}

Result<void, SwitchFault> check_prefix(const PrefixRoute& route, std::uint32_t block,
                                       std::size_t ports) {
  const Prefix& prefix = route.prefix;
  if (prefix.length > Prefix::kLengthMax) return failure(SwitchFault::kPrefixLength);
  const AddressKey first = AddressKey::of(prefix.address);
  if (first.under(AddressKey::mask(prefix.length)) != first) {
    return failure(SwitchFault::kPrefixBits);
  }
  if (prefix.length >= 32 && first.high >> 32 == block) return failure(SwitchFault::kPrefixInBlock);
  if (route.ports.empty()) return failure(SwitchFault::kPrefixNoPorts);
  if (route.ports.size() > kPortsMax) return failure(SwitchFault::kPrefixManyPorts);
  const auto missing = [ports](PortIndex port) { return port.raw() >= ports; };
  if (std::ranges::any_of(route.ports, missing)) return failure(SwitchFault::kPrefixPort);
  return {};
}

// The later one of two routes with the same prefix.
Checked check_twice(std::span<const PrefixRoute> routes) {
  std::vector<std::pair<AddressKey, std::pair<std::uint8_t, std::size_t>>> all;
  all.reserve(routes.size());
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const Prefix& prefix = routes[i].prefix;
    all.push_back({AddressKey::of(prefix.address), {prefix.length, i}});
  }
  std::ranges::sort(all);
  const auto same = [](const auto& a, const auto& b) {
    return a.first == b.first && a.second.first == b.second.first;
  };
  const auto twice = std::ranges::adjacent_find(all, same);
  if (twice == all.end()) return {};
  return failure(SwitchError{SwitchFault::kPrefixTwice, std::next(twice)->second.second});
}

Checked check_prefixes(const ForwardingSettings& forwarding, std::size_t ports) {
  const auto& routes = forwarding.prefixes;
  if (routes.size() > kPrefixesMax) {
    return failure(SwitchError{SwitchFault::kPrefixes, routes.size()});
  }
  for (std::size_t i = 0; i < routes.size(); ++i) {
    if (const auto result = check_prefix(routes[i], forwarding.block, ports); !result) {
      return failure(SwitchError{result.error(), i});
    }
  }
  return check_twice(routes);
}

}  // namespace

std::string_view describe(SwitchFault fault) {
  switch (fault) {
    case SwitchFault::kPorts: return "a switch has 1 to 2048 ports";
    case SwitchFault::kBuffers: return "a switch has 1 to 65536 packet buffers";
    case SwitchFault::kDscp: return "two classes have the same DSCP";
    case SwitchFault::kUsidZero: return "uSID 0 leads nowhere";
    case SwitchFault::kUsidTwice: return "the uSID is there twice";
    case SwitchFault::kUsidPort: return "the uSID leads to a port that is not there";
    case SwitchFault::kPrefixes: return "there are more than 4096 prefixes";
    case SwitchFault::kPrefixLength: return "the prefix is longer than an address";
    case SwitchFault::kPrefixBits: return "the prefix has bits behind its length";
    case SwitchFault::kPrefixTwice: return "the prefix is there twice";
    case SwitchFault::kPrefixInBlock: return "the prefix lies within the block of the uSIDs";
    case SwitchFault::kPrefixNoPorts: return "the prefix has no ports";
    case SwitchFault::kPrefixManyPorts: return "the prefix has more ports than a switch";
    case SwitchFault::kPrefixPort: return "the prefix leads to a port that is not there";
  }
  return "unknown";
}
static_assert(kPortsMax == 2048 && kBuffersMax == 65'536 && kPrefixesMax == 4096,
              "as the texts say");

Result<void, SwitchError> check(const SwitchSettings& settings) {
  const std::size_t ports = settings.ports.size();
  if (ports == 0 || ports > kPortsMax) return failure(SwitchError{SwitchFault::kPorts, ports});
  if (settings.buffers == 0 || settings.buffers > kBuffersMax) {
    return failure(SwitchError{SwitchFault::kBuffers, settings.buffers});
  }
  if (const auto result = check_dscp(settings.dscp); !result) return failure(result.error());
  if (const auto result = check_usids(settings.forwarding.usids, ports); !result) {
    return failure(result.error());
  }
  return check_prefixes(settings.forwarding, ports);
}

}  // namespace openmrc::softswitch
