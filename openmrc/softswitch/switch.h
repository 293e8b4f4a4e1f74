// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "openmrc/base/bytes.h"
#include "openmrc/base/check.h"
#include "openmrc/base/result.h"
#include "openmrc/softswitch/counters.h"
#include "openmrc/softswitch/egress_port.h"
#include "openmrc/softswitch/forwarding_table.h"
#include "openmrc/softswitch/ip_packet.h"
#include "openmrc/softswitch/limits.h"
#include "openmrc/softswitch/packet_pool.h"
#include "openmrc/softswitch/settings.h"

namespace openmrc::softswitch {

// One switch. Packets are bytes from the IP header on; they may come from any host. It has no
// clock: whoever calls decides when a packet arrives, and when a port has time to send the next
// one. What comes out is a function of the settings and of the calls, in their order. No call uses
// the heap, and none takes longer than the tables are deep.
class Switch {
 public:
  static Result<Switch, SwitchError> make(const SwitchSettings& settings);

  // A packet arrived at a port. It is copied and waits at the port that comes back, or is dropped
  // and counted.
  Result<PortIndex, Drop> receive(PortIndex in, ConstBytes bytes);

  // Takes the next packet to leave by a port; no bytes if none waits. The bytes stay there until
  // the next `receive`.
  ConstBytes transmit(PortIndex out);

  [[nodiscard]] std::size_t ports() const { return ports_.size(); }
  [[nodiscard]] const PortCounters& counters(PortIndex port) const { return at(port).counters; }
  [[nodiscard]] const PacketQueue& waiting(PortIndex port, QueueClass queue) const {
    return at(port).egress.waiting(queue);
  }
  // In all ports together.
  [[nodiscard]] std::size_t packets_waiting() const { return pool_.in_use(); }

 private:
  // Each in cache lines of its own, and as long as a power of two.
  struct alignas(64) Port {
    EgressPort egress;
    PortCounters counters{};
  };

  explicit Switch(const SwitchSettings& settings);

  Port& at(PortIndex port) {
    OPENMRC_CHECK(port.raw() < ports_.size(), "there is no such port");
    return ports_[port.raw()];
  }
  [[nodiscard]] const Port& at(PortIndex port) const {
    OPENMRC_CHECK(port.raw() < ports_.size(), "there is no such port");
    return ports_[port.raw()];
  }

  Result<PortIndex, Drop> queue(const IpPacket& packet, const Hop& hop);
  // Apart, so that the common way has the registers to itself.
  [[gnu::noinline]] Result<PortIndex, Drop> queue_trimmed(const IpPacket& packet, const Hop& hop);
  Dropped trim(const EgressPort& out, BufferIndex buffer);

  wire::DscpMap dscp_;
  Treatments treatments_;
  ForwardingTable forwarding_;
  PacketPool pool_;
  std::vector<Port> ports_;
};

}  // namespace openmrc::softswitch
