// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/core/endpoint/endpoint_requests.h"
#include "openmrc/core/endpoint/endpoint_state.h"
#include "openmrc/core/endpoint/transmit.h"

namespace openmrc::core {

// The control packets that wait to be sent: chooses a path for each, and fills it in when it
// leaves.
class ControlPackets {
 public:
  ControlPackets(EndpointState& state, EndpointRequests& requests)
      : state_(state), requests_(requests) {}

  // The next one. If no port is free for it, it goes to the end of the queue.
  [[nodiscard]] ControlSent send(Instant now, PlaneMask ports, Transmit& out);

  [[nodiscard]] bool empty() const { return state_.context.control.empty(); }
  [[nodiscard]] std::size_t size() const { return state_.context.control.size(); }

 private:
  [[nodiscard]] ControlSent fill(Instant now, PlaneMask ports, const ControlItem& item,
                                 Transmit& out);
  [[nodiscard]] ControlSent fill_for_queue_pair(Instant now, PlaneMask ports,
                                                const ControlItem& item, Transmit& out);
  [[nodiscard]] ControlSent fill_for_peer(Instant now, PlaneMask ports, const ControlItem& item,
                                          Transmit& out);
  [[nodiscard]] ControlSent fill_direct(Instant now, PlaneMask ports, const ControlItem& item,
                                        Transmit& out);
  void fill_body(const Turn& at, QueuePair& qp, const ControlItem& item, wire::Packet& out);
  void fill_nack(const Turn& turn, const ControlItem& item, wire::Nack& out);
  void fill_acknowledge(const Turn& turn, QueuePair& qp, wire::Acknowledge& out);

  EndpointState& state_;
  EndpointRequests& requests_;
};

}  // namespace openmrc::core
