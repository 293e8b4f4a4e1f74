// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/memory/memory_regions.h"

#include <limits>

namespace openmrc::core {

Result<RKey, RegisterError> MemoryRegions::add(const MemoryRegion& region) {
  if (region.length == 0) return failure(RegisterError::kEmpty);
  if (region.address > std::numeric_limits<std::uint64_t>::max() - region.length) {
    return failure(RegisterError::kAddressWraps);
  }
  if (free_.empty()) {
    if (slots_.size() - 1 == limit_) return failure(RegisterError::kTooManyRegions);
    free_.push(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t index = free_.pop();
  Slot& slot = slots_[index];
  slot.uses = static_cast<std::uint8_t>(slot.uses == 0xff ? 1 : slot.uses + 1);
  slot.key = RKey(index << kUseBits | slot.uses);
  slot.region = region;
  return slot.key;
}

bool MemoryRegions::remove(RKey key) {
  const std::size_t index = key.raw() >> kUseBits;
  if (index == 0 || index >= slots_.size() || slots_[index].key != key) return false;
  slots_[index].key = RKey{};
  free_.push(static_cast<std::uint32_t>(index));
  return true;
}

}  // namespace openmrc::core
