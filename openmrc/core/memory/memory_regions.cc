// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/memory/memory_regions.h"

#include <bit>
#include <limits>

#include "openmrc/core/memory/message_handler.h"

namespace openmrc::core {

MemoryRegions::MemoryRegions(std::size_t limit, const std::optional<SecretNumbers::Key>& secret)
    : limit_(std::min(limit, kRegionsMax)),
      slot_mask_(static_cast<std::uint32_t>(std::bit_ceil(std::max<std::size_t>(limit_, 2)) - 1)) {
  if (!secret) return;
  drawn_.emplace(derived(*secret, kSecretPurpose));
  mask_ = static_cast<std::uint32_t>(drawn_->next());
}

Result<RKey, RegisterError> MemoryRegions::add(const MemoryRegion& region) {
  if (region.length == 0) return failure(RegisterError::kEmpty);
  if (region.address > std::numeric_limits<std::uint64_t>::max() - region.length) {
    return failure(RegisterError::kAddressWraps);
  }
  if (free_.empty()) {
    if (slots_.size() == limit_) return failure(RegisterError::kTooManyRegions);
    slots_.emplace_back();
    free_.push(static_cast<std::uint32_t>(slots_.size() - 1));
  }
  const std::uint32_t index = free_.pop();
  Slot& slot = slots_[index];
  slot.key = new_key(index);
  slot.region = region;
  return slot.key;
}

std::uint32_t MemoryRegions::next_tag(std::uint32_t last) {
  const std::uint32_t tag_max = std::numeric_limits<std::uint32_t>::max() / (slot_mask_ + 1);
  if (!drawn_) return last == tag_max ? 1 : last + 1;
  for (;;) {
    const auto tag = static_cast<std::uint32_t>(drawn_->below(std::uint64_t{tag_max} + 1));
    if (tag != last) return tag;
  }
}

// Applications take zero for no key, and one is no region's (MSG-2).
RKey MemoryRegions::new_key(std::size_t slot) {
  std::uint32_t& tag = slots_[slot].tag;
  do {
    tag = next_tag(tag);
  } while (key_of(slot, tag) == RKey{} || key_of(slot, tag) == kMessageKey);
  return key_of(slot, tag);
}

Result<const MemoryRegion*, AccessError> MemoryRegions::find(const Access& access) const {
  const std::size_t slot = slot_of(access.key);
  if (slot >= slots_.size() || slots_[slot].key != access.key) {
    return failure(AccessError::kUnknownKey);
  }
  if (slots_[slot].region.domain != access.domain) return failure(AccessError::kOtherDomain);
  return &slots_[slot].region;
}

Result<std::byte*, AccessError> MemoryRegions::find_readable(const Access& access) const {
  const auto region = find(access);
  if (!region) return failure(region.error());
  if (!(*region)->remote_read) return failure(AccessError::kNotReadable);
  return place_in(**region, access);
}

Result<std::byte*, AccessError> MemoryRegions::find_atomic(const Access& access) const {
  const auto region = find(access);
  if (!region) return failure(region.error());
  if (!(*region)->remote_atomic) return failure(AccessError::kNotAtomic);
  return place_in(**region, access);
}

bool MemoryRegions::remove(RKey key) {
  const std::size_t index = slot_of(key);
  if (index >= slots_.size() || slots_[index].key != key) return false;
  slots_[index].key = key_of(index ^ 1, 0);
  free_.push(static_cast<std::uint32_t>(index));
  return true;
}

}  // namespace openmrc::core
