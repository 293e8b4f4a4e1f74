// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "openmrc/fabric/emit/site.h"
#include "openmrc/wire/field/dscp.h"

// MRC 8: which traffic class and queue of a switch a DSCP has. Each DSCP has a traffic class of its
// own, because a switch that rewrites a class gives all its packets one DSCP.
namespace openmrc::fabric {

struct QueueClassPlan {
  std::uint32_t traffic_class = 0;
  std::optional<wire::Dscp> dscp{};  // none: packets that this switch has trimmed
  std::uint32_t queue = 0;
};

// What this switch trims. A packet that arrives trimmed has another class, so that its DSCP stays
// as it is also on the last hop.
inline constexpr std::uint32_t kTrimmedHereClass = 5;

inline std::array<QueueClassPlan, 8> queue_classes(const QueueSettings& queues) {
  constexpr wire::DscpMap kDscps;
  return {{{0, wire::Dscp(0), queues.no_trim_queue},
           {1, kDscps.no_trim, queues.no_trim_queue},
           {2, kDscps.trimmable, queues.data_queue},
           {3, kDscps.trimmable_retransmission, queues.data_queue},
           {4, kDscps.trimmed, queues.trimmed_queue},
           {kTrimmedHereClass, std::nullopt, queues.trimmed_queue},
           {6, kDscps.control, queues.control_queue},
           {7, kDscps.trimmed_last_hop, queues.trimmed_queue}}};
}

}  // namespace openmrc::fabric
