// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "openmrc/base/bytes.h"
#include "openmrc/base/ids.h"
#include "openmrc/base/result.h"
#include "openmrc/base/secret_numbers.h"
#include "openmrc/base/strong.h"
#include "openmrc/core/containers/growing_ring.h"

namespace openmrc::core {

// Memory and queue pairs of one protection domain may work together, others may not.
using ProtectionDomain = Strong<struct ProtectionDomainTag, std::uint32_t>;
// Has no memory: that of a queue pair whose peer may write nowhere.
inline constexpr ProtectionDomain kNoDomain{0xffffffff};

// Memory that peers may write to.
struct MemoryRegion {
  ProtectionDomain domain{};
  std::uint64_t address = 0;  // what peers call its first byte
  std::uint64_t length = 0;
  std::byte* bytes = nullptr;  // where it is; null where only lengths matter, as in simulation
  bool remote_write = true;
  // For the layer behind queue pairs that have one; MRC itself only writes.
  bool remote_read = false;
  bool remote_atomic = false;
};

enum class RegisterError : std::uint8_t {
  kEmpty,           // a region has at least one byte
  kAddressWraps,    // address + length does not fit into 64 bits
  kTooManyRegions,  // the endpoint's limit is reached
};

enum class AccessError : std::uint8_t {
  kUnknownKey,
  kOtherDomain,
  kNotWritable,
  kNotReadable,
  kNotAtomic,
  kOutOfBounds,
};

// The regions of an endpoint by their key (MRC 6.3). A key has the slot in its low bits and a tag
// in the others, so that the key of a region that is gone does not open its successor. With a
// secret, tags are random and all bits are masked: who has seen no key must guess 32 bits, and who
// knows one the tag of another (SEC-2).
class MemoryRegions {
 public:
  MemoryRegions(std::size_t limit, const std::optional<SecretNumbers::Key>& secret);

  Result<RKey, RegisterError> add(const MemoryRegion& region);
  // Returns whether there was one.
  bool remove(RKey key);

  struct Access {
    RKey key;
    ProtectionDomain domain;
    std::uint64_t address;
    std::uint64_t length;
  };
  // MRC 6.2, 6.3: whether a packet may write there; if so, where that is (null without bytes). Runs
  // for every packet (QP-32).
  [[nodiscard]] Result<std::byte*, AccessError> find_writable(const Access& access) const {
    const std::size_t slot = slot_of(access.key);
    if (slot >= slots_.size() || slots_[slot].key != access.key) {
      return failure(AccessError::kUnknownKey);
    }
    const MemoryRegion& region = slots_[slot].region;
    if (region.domain != access.domain) return failure(AccessError::kOtherDomain);
    if (!region.remote_write) return failure(AccessError::kNotWritable);
    return place_in(region, access);
  }
  // The same for reading, and for atomic operations.
  [[nodiscard]] Result<std::byte*, AccessError> find_readable(const Access& access) const;
  [[nodiscard]] Result<std::byte*, AccessError> find_atomic(const Access& access) const;

 private:
  // In this order nothing can wrap.
  [[nodiscard]] static Result<std::byte*, AccessError> place_in(const MemoryRegion& region,
                                                                const Access& access) {
    const std::uint64_t offset = access.address - region.address;
    if (access.address < region.address || access.length > region.length ||
        offset > region.length - access.length) {
      return failure(AccessError::kOutOfBounds);
    }
    return region.bytes == nullptr ? nullptr : region.bytes + offset;
  }
  [[nodiscard]] Result<const MemoryRegion*, AccessError> find(const Access& access) const;

  static constexpr std::uint64_t kSecretPurpose = 0;
  static constexpr unsigned kTagBitsMin = 8;
  static constexpr std::size_t kRegionsMax = 1u << (32 - kTagBitsMin);

  struct alignas(64) Slot {  // a packet reads one cache line
    RKey key{};              // while it holds no region, one that leads to another slot
    std::uint32_t tag = 0;   // of the last region
    MemoryRegion region{};
  };

  [[nodiscard]] std::size_t slot_of(RKey key) const { return (key.raw() ^ mask_) & slot_mask_; }
  [[nodiscard]] RKey key_of(std::size_t slot, std::uint32_t tag) const {
    return RKey(((tag * (slot_mask_ + 1)) | static_cast<std::uint32_t>(slot)) ^ mask_);
  }
  [[nodiscard]] std::uint32_t next_tag(std::uint32_t last);
  [[nodiscard]] RKey new_key(std::size_t slot);

  std::size_t limit_;
  std::uint32_t slot_mask_;  // ones where a key has its slot
  std::uint32_t mask_ = 0;
  std::optional<SecretNumbers> drawn_;  // tags; otherwise they count
  std::vector<Slot> slots_;
  GrowingRing<std::uint32_t> free_;  // the longest free is used first, so that old keys stay dead
};

}  // namespace openmrc::core
