// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "openmrc/base/bytes.h"
#include "openmrc/base/check.h"
#include "openmrc/softswitch/limits.h"

namespace openmrc::softswitch {

// Names a buffer of a pool.
using BufferIndex = std::uint32_t;
inline constexpr BufferIndex kNoBuffer = 0xffffffff;

// The packets in a switch, each in a buffer of kPacketSizeMax bytes. All memory is there from the
// beginning; the system gives pages only for those buffers that are used, and the one that was
// given back last is taken first.
class PacketPool {
 public:
  explicit PacketPool(std::size_t buffers);

  // An empty buffer; kNoBuffer when all are in use.
  [[nodiscard]] BufferIndex take() {
    const BufferIndex index = first_free_;
    if (index == kNoBuffer) return kNoBuffer;
    first_free_ = slots_[index].next;
    ++in_use_;
    return index;
  }
  // The bytes stay as they are until the buffer is taken again.
  void give_back(BufferIndex index) {
    slots_[index].next = first_free_;
    first_free_ = index;
    --in_use_;
  }

  // Puts a packet into a buffer; it has at most kPacketSizeMax bytes.
  MutableBytes store(BufferIndex index, ConstBytes packet);
  // Leaves only the first bytes.
  void shorten(BufferIndex index, std::size_t size) {
    OPENMRC_DCHECK(size <= slots_[index].size, "shorter than it was");
    slots_[index].size = static_cast<std::uint32_t>(size);
  }

  [[nodiscard]] MutableBytes bytes(BufferIndex index) {
    return {memory_.get() + std::size_t{index} * kPacketSizeMax, slots_[index].size};
  }
  [[nodiscard]] std::uint32_t size(BufferIndex index) const { return slots_[index].size; }
  [[nodiscard]] std::size_t in_use() const { return in_use_; }

 private:
  friend class PacketQueue;

  struct Slot {
    BufferIndex next = kNoBuffer;  // in the list of those that are free, or in a queue
    std::uint32_t size = 0;        // of the packet
  };

  std::vector<Slot> slots_;
  std::unique_ptr<std::byte[]> memory_;
  BufferIndex first_free_ = 0;
  std::size_t in_use_ = 0;
};

// First in, first out, through the slots of a pool.
class PacketQueue {
 public:
  [[nodiscard]] bool empty() const { return first_ == kNoBuffer; }
  [[nodiscard]] std::uint32_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint32_t packets() const { return packets_; }

  void push(PacketPool& pool, BufferIndex index) {
    PacketPool::Slot& slot = pool.slots_[index];
    slot.next = kNoBuffer;
    (empty() ? first_ : pool.slots_[last_].next) = index;
    last_ = index;
    bytes_ += slot.size;
    ++packets_;
  }
  // The caller knows that there is one.
  BufferIndex pop(PacketPool& pool) {
    OPENMRC_DCHECK(!empty(), "the queue has a packet");
    const BufferIndex index = first_;
    const PacketPool::Slot& slot = pool.slots_[index];
    first_ = slot.next;
    bytes_ -= slot.size;
    --packets_;
    return index;
  }

 private:
  BufferIndex first_ = kNoBuffer;
  BufferIndex last_ = kNoBuffer;  // means nothing when the queue is empty
  std::uint32_t bytes_ = 0;
  std::uint32_t packets_ = 0;
};

}  // namespace openmrc::softswitch
