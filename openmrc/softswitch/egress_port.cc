// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/softswitch/egress_port.h"

#include "openmrc/base/rng.h"
#include "openmrc/softswitch/ip_packet.h"

namespace openmrc::softswitch {

BufferIndex EgressPort::pop(PacketPool& pool, PortCounters& counters) {
  const bool both_wait = !control_.empty() && !data_.empty();
  const QueueClass alone = control_.empty() ? QueueClass::kData : QueueClass::kControl;
  const QueueClass queue = both_wait ? share_.next() : alone;
  if (queue == QueueClass::kData && data_.empty()) return kNoBuffer;
  const BufferIndex buffer =
      queue == QueueClass::kControl ? control_.pop(pool) : pop_data(pool, counters);
  if (both_wait) share_.charge(queue, pool.size(buffer));
  return buffer;
}

// MRC 8: data is marked as it leaves, by what waits then, so that the mark reports the present
// queue (CC-50).
BufferIndex EgressPort::pop_data(PacketPool& pool, PortCounters& counters) {
  const std::uint32_t waiting = data_.bytes();
  const BufferIndex buffer = data_.pop(pool);
  if (may_mark_congestion(policy_, waiting)) [[unlikely]] {
    const auto random = static_cast<std::uint32_t>(split_mix(random_) >> 32);
    const bool marked = marks_congestion(policy_, waiting, random) &&
                        mark_congested(pool.bytes(buffer), policy_.headers);
    counters.marked += static_cast<std::uint64_t>(marked);
  }
  return buffer;
}

}  // namespace openmrc::softswitch
