// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/softswitch/counters.h"
#include "openmrc/softswitch/packet_pool.h"
#include "openmrc/softswitch/queue_policy.h"

namespace openmrc::softswitch {

// The two queues of a port and what decides about them. Packets lie in the switch's pool.
class EgressPort {
 public:
  // The seed is for ECN.
  EgressPort(const QueuePolicy& policy, std::uint64_t seed) : policy_(policy), random_(seed) {}

  // What becomes of a packet that arrives. A packet that is to be trimmed is judged again when it
  // has been, as the control packet that it then is: only then is it known how long it is.
  [[nodiscard]] Verdict judge(const Treatment& treatment, std::uint32_t size) const {
    return judge_arrival(policy_, treatment.queue, treatment.trimmable, size, 0, data_.bytes(),
                         control_.bytes());
  }
  [[nodiscard]] wire::TrimPlace trim_place() const { return policy_.place; }
  [[nodiscard]] wire::MarkedHeaders marked_headers() const { return policy_.headers; }

  void push(PacketPool& pool, QueueClass queue, BufferIndex buffer) {
    (queue == QueueClass::kControl ? control_ : data_).push(pool, buffer);
  }

  // The next packet to leave; kNoBuffer if there is none.
  BufferIndex pop(PacketPool& pool, PortCounters& counters);

  [[nodiscard]] const PacketQueue& waiting(QueueClass queue) const {
    return queue == QueueClass::kControl ? control_ : data_;
  }

 private:
  BufferIndex pop_data(PacketPool& pool, PortCounters& counters);

  QueuePolicy policy_;
  PacketQueue control_;
  PacketQueue data_;
  FairShare share_;
  std::uint64_t random_;  // of split_mix
};

}  // namespace openmrc::softswitch
