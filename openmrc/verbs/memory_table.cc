// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/verbs/memory_table.h"

#include "openmrc/base/check.h"

namespace openmrc::libmrc {

Result<std::uint32_t, host::Error> MemoryTable::add(host::Host& runtime, const Request& request) {
  const std::lock_guard lock(mutex_);
  auto region = runtime.register_memory(request.bytes, {.domain = request.domain,
                                                        .address = request.address,
                                                        .remote_write = request.remote_write,
                                                        .remote_read = request.remote_read,
                                                        .remote_atomic = request.remote_atomic});
  if (!region) return failure(std::move(region.error()));
  const std::uint32_t key = (*region)->remote().rkey;
  Slot& slot = slots_[slot_of(key)];
  OPENMRC_CHECK(slot.key.load() == kNoKey, "no two regions of an endpoint have the same slot");
  slot.domain.store(request.domain.raw(), std::memory_order_relaxed);
  slot.address.store(request.address, std::memory_order_relaxed);
  slot.length.store(request.bytes.size(), std::memory_order_relaxed);
  slot.bytes.store(request.bytes.data(), std::memory_order_relaxed);
  slot.local_write.store(request.local_write, std::memory_order_relaxed);
  slot.region = std::move(*region);
  slot.key.store(key, std::memory_order_release);
  size_.fetch_add(1, std::memory_order_relaxed);
  return key;
}

bool MemoryTable::remove(std::uint32_t key) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slots_[slot_of(key)];
  if (key == kNoKey || slot.key.load() != key) return false;
  slot.key.store(kNoKey);
  slot.region.reset();
  size_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

}  // namespace openmrc::libmrc
