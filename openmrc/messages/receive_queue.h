// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/core/containers/growing_ring.h"
#include "openmrc/messages/attributes.h"
#include "openmrc/messages/work.h"

namespace openmrc::messages {

// Receives in the order in which they were posted, of one queue pair or shared by many. A receive
// that is taken keeps its place until it is given back. Allocates when it is made, and not again.
class ReceiveQueue {
 public:
  using Slot = std::uint32_t;

  explicit ReceiveQueue(const QueueOptions& options);

  [[nodiscard]] Result<void, PostError> post(const ReceiveRequest& request);
  // Waiting for a message.
  [[nodiscard]] std::size_t size() const { return waiting_.size(); }
  [[nodiscard]] bool empty() const { return waiting_.empty(); }
  // The oldest; there is one.
  [[nodiscard]] Slot take() { return waiting_.pop(); }
  void give_back(Slot slot) { free_.push_back(slot); }

  struct Receive {
    WorkId id = 0;
    std::uint64_t size = 0;
    std::uint32_t segments = 0;
    bool keys_ok = true;
    bool too_short = false;  // something came that does not fit
  };
  [[nodiscard]] Receive& operator[](Slot slot) { return receives_[slot]; }
  [[nodiscard]] std::span<const Segment> segments(Slot slot) const {
    return {segments_.data() + slot * segments_each_, receives_[slot].segments};
  }

 private:
  std::size_t segments_each_;
  std::vector<Receive> receives_;
  std::vector<Segment> segments_;
  std::vector<Slot> free_;
  core::GrowingRing<Slot> waiting_;
};

}  // namespace openmrc::messages
