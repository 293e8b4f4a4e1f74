// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "openmrc/core/context/sent_pool.h"

namespace openmrc::core {

// The packets of a queue pair that were retransmitted and are in flight, in the order in which that
// happened. Those that were sent once are in the order of their PSNs and need no list. The links
// are in the packets.
class RetransmissionList {
 public:
  void append(SentPool& pool, SentRef ref, SentPacket& packet) {
    packet.before = newest_;
    packet.after = kNoSent;
    (newest_ == kNoSent ? oldest_ : sent_packet(pool, newest_).after) = ref;
    newest_ = ref;
  }
  // It has arrived, or is declared lost.
  void remove(SentPool& pool, const SentPacket& packet) {
    (packet.before == kNoSent ? oldest_ : sent_packet(pool, packet.before).after) = packet.after;
    (packet.after == kNoSent ? newest_ : sent_packet(pool, packet.after).before) = packet.before;
  }
  // kNoSent if there is none. The next one is its `after`.
  [[nodiscard]] SentRef oldest() const { return oldest_; }

 private:
  SentRef oldest_ = kNoSent;
  SentRef newest_ = kNoSent;
};

}  // namespace openmrc::core
