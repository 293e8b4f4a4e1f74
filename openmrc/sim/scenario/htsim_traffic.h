// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "openmrc/base/result.h"
#include "openmrc/sim/workload/workload.h"
#include "openmrc/text/file_error.h"

namespace openmrc::sim {

struct HtsimTraffic {
  std::uint32_t nodes = 0;
  FlowList list{};  // in the order of the file
};

// A traffic file of htsim (.cm):
//
//   Nodes 16
//   Connections 2
//   Triggers 1
//   0->5 id 1 start 0 size 2000000 recv_done_trigger 1
//   5->3 id 2 trigger 1 size 2000000
//   trigger id 1 oneshot
//
// `start` is in picoseconds. A flow that a trigger starts must begin where the flow that fires it
// ends or begins, since a host here knows of no others: then it starts when that flow has arrived,
// or has been acknowledged. Whether the file says recv_done_trigger or send_done_trigger makes no
// difference. Barriers, multishot triggers and failures are errors. Priorities (`prio`) and message
// numbers (`msg`) mean nothing here and are passed over.
Result<HtsimTraffic, text::FileError> parse_htsim_traffic(std::string_view text);

}  // namespace openmrc::sim
