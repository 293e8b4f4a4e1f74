// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "openmrc/sim/engine/slab_pool.h"
#include "openmrc/sim/network/packet.h"

namespace openmrc::sim {

// Room for some packets. Mailboxes are made of these, so that a mailbox costs what is in it.
struct Chunk {
  static constexpr std::size_t kPackets = 42;
  Packet packets[kPackets];
};

// Packets for one node and one window of time, in no order. Written by one worker and, after the
// workers have met, read by one.
class Mailbox {
 public:
  Packet& append(SlabPool<Chunk>& pool) {
    if (next_ == end_) {
      chunks_.push_back(pool.take());
      next_ = chunks_.back()->packets;
      end_ = next_ + Chunk::kPackets;
    }
    return *next_++;
  }
  [[nodiscard]] bool empty() const { return chunks_.empty(); }
  [[nodiscard]] std::size_t size() const {
    return chunks_.size() * Chunk::kPackets - static_cast<std::size_t>(end_ - next_);
  }

  // Calls `visit(const Packet&)` for each; the packets stay until the chunks are given back. What
  // comes next is fetched while one is looked at.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t i = 0; i < chunks_.size(); ++i) {
      const bool is_last = i + 1 == chunks_.size();
      const Packet* packet = chunks_[i]->packets;
      const Packet* end = is_last ? next_ : packet + Chunk::kPackets;
      const Packet* ahead = is_last ? packet : chunks_[i + 1]->packets;
      for (; packet != end; ++packet, ++ahead) {
        __builtin_prefetch(ahead);
        visit(*packet);
      }
    }
  }

  // Empties it. The chunks go to `returned`, from where their pool takes them back later.
  void clear(std::vector<Chunk*>& returned) {
    returned.insert(returned.end(), chunks_.begin(), chunks_.end());
    chunks_.clear();
    next_ = end_ = nullptr;
  }

 private:
  Packet* next_ = nullptr;  // free place in the last chunk, and where the chunk ends
  Packet* end_ = nullptr;
  std::vector<Chunk*> chunks_;
};

}  // namespace openmrc::sim
