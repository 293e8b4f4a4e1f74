// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/softswitch/limits.h"
#include "openmrc/softswitch/prefix_table.h"
#include "openmrc/softswitch/queue_policy.h"
#include "openmrc/wire/field/dscp.h"
#include "openmrc/wire/field/usid.h"

namespace openmrc::softswitch {

struct UsidRoute {
  wire::Usid usid{};
  PortIndex port{};

  bool operator==(const UsidRoute&) const = default;
};

// Where packets go. It is installed once and does not change: MRC routes around failures from the
// hosts, and a switch that did so too would work against them.
struct ForwardingSettings {
  std::uint32_t block = 0xfcbb'bb00;  // of all uSIDs: the first 32 bits of their addresses
  wire::Usid own{};                   // the switch's own uSID; 0: it has none
  std::vector<UsidRoute> usids{};
  std::vector<PrefixRoute> prefixes{};  // destinations outside the block
};

struct SwitchSettings {
  std::vector<QueuePolicy> ports{};  // what each port does with its queues
  ForwardingSettings forwarding{};
  wire::DscpMap dscp{};
  std::size_t buffers = 4096;  // packets that may wait in all ports together
  std::uint64_t seed = 0;      // of ECN marks, and of the hash that spreads flows over ports
};

// Why there is no switch. Behind the colon: what SwitchError::place says of it.
enum class SwitchFault : std::uint8_t {
  kPorts,            // none, or more than kPortsMax: how many
  kBuffers,          // none, or more than kBuffersMax: how many
  kDscp,             // two classes have the same DSCP: that DSCP
  kUsidZero,         // 0 means that there is no more, and leads nowhere: place in the list
  kUsidTwice,        // it cannot lead to two ports: place in the list
  kUsidPort,         // it leads to a port that is not there: place in the list
  kPrefixes,         // more than kPrefixesMax: how many
  kPrefixLength,     // longer than an address: place in the list
  kPrefixBits,       // the address has bits behind the prefix's length: place in the list
  kPrefixTwice,      // it cannot have two groups of ports: place in the list
  kPrefixInBlock,    // lies within the block, where uSIDs lead and prefixes are not asked: place
  kPrefixNoPorts,    // leads nowhere: place in the list
  kPrefixManyPorts,  // more than kPortsMax: place in the list
  kPrefixPort,       // leads to a port that is not there: place in the list
};
std::string_view describe(SwitchFault fault);

struct SwitchError {
  SwitchFault fault;
  std::size_t place = 0;

  bool operator==(const SwitchError&) const = default;
};

// Whether a switch can be made of them.
[[nodiscard]] Result<void, SwitchError> check(const SwitchSettings& settings);

}  // namespace openmrc::softswitch
