// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "openmrc/base/result.h"
#include "openmrc/datapath/datapath.h"
#include "openmrc/datapath/error.h"
#include "openmrc/datapath/open.h"

// Whole frames in and out of Linux, by AF_XDP sockets: nothing of what switches say in the outer
// header is lost, and no network stack stands between. What the sockets cannot do, the data path of
// mode "srv6" does beside them: packets whose next hop is not known yet, and those of shards that
// did not get the sockets of a port.
namespace openmrc::xdp {

// The back end for datapath::Mode::kXdp, in the first free slot. Whoever uses it stays in the
// network namespace: interfaces that come back are looked for there.
Result<std::unique_ptr<datapath::Datapath>, datapath::Error> open(
    const datapath::Settings& settings);

// What can be had of a port: opened, and closed again.
struct PortCheck {
  bool is_taken = false;  // by another shard; the rest is not known
  std::uint32_t queues = 0;
  bool is_zero_copy = false;
};
Result<PortCheck, datapath::Error> check_port(const datapath::Settings& settings,
                                              const datapath::Port& port);

}  // namespace openmrc::xdp
