// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/host/host.h"

namespace openmrc::libmrc {

// The registered memory of a process by its local key, which is also the remote key. Looking up
// takes no lock: it is done for every posted write.
class MemoryTable {
 public:
  MemoryTable() : slots_(kSlots) {}

  struct Request {
    std::span<std::byte> bytes{};
    std::uint64_t address = 0;  // what work requests and peers call its first byte
    host::ProtectionDomain domain{};
    bool local_write = true;
    bool remote_write = false;
    bool remote_read = false;
    bool remote_atomic = false;
  };
  // The key, or why there is none.
  Result<std::uint32_t, host::Error> add(host::Host& runtime, const Request& request);
  // False: there is no such region.
  bool remove(std::uint32_t key);
  [[nodiscard]] std::size_t size() const { return size_.load(std::memory_order_relaxed); }

  // Where local memory is that a work request names; null if it is not all in a region of the
  // domain, or is not to be written to.
  [[nodiscard]] std::byte* find(std::uint32_t key, host::ProtectionDomain domain,
                                std::uint64_t address, std::uint32_t length,
                                bool to_write = false) const {
    const Slot& slot = slots_[slot_of(key)];
    if (key == kNoKey || slot.key.load(std::memory_order_acquire) != key) return nullptr;
    const std::uint64_t offset = address - slot.address.load(std::memory_order_acquire);
    const std::uint64_t size = slot.length.load(std::memory_order_acquire);
    std::byte* bytes = slot.bytes.load(std::memory_order_acquire);
    const bool may = !to_write || slot.local_write.load(std::memory_order_acquire);
    const bool fits = may && slot.domain.load(std::memory_order_acquire) == domain.raw() &&
                      offset <= size && length <= size - offset;
    // A region that was removed meanwhile, and another one in its place, are not mixed up.
    if (!fits || slot.key.load(std::memory_order_relaxed) != key) return nullptr;
    return bytes + offset;
  }

 private:
  // Keys name a slot in their low bits, all of them masked alike (core/memory/memory_regions.h). An
  // endpoint has this many at most.
  static constexpr std::size_t kSlots = std::size_t{1} << 16;
  static constexpr std::uint32_t kNoKey = 0;
  static std::size_t slot_of(std::uint32_t key) { return key % kSlots; }

  struct Slot {
    std::atomic<std::uint32_t> key = kNoKey;
    std::atomic<std::uint32_t> domain = 0;
    std::atomic<std::uint64_t> address = 0;
    std::atomic<std::uint64_t> length = 0;
    std::atomic<std::byte*> bytes = nullptr;
    std::atomic<bool> local_write = false;
    std::unique_ptr<host::MemoryRegion> region;
  };

  std::mutex mutex_;  // of whoever changes something
  std::vector<Slot> slots_;
  std::atomic<std::size_t> size_ = 0;
};

}  // namespace openmrc::libmrc
