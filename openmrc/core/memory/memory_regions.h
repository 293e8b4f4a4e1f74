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
#include "openmrc/base/strong.h"
#include "openmrc/core/containers/growing_ring.h"

namespace openmrc::core {

// Memory and queue pairs of one protection domain may work together, others may not.
using ProtectionDomain = Strong<struct ProtectionDomainTag, std::uint32_t>;

// Memory that peers may write to.
struct MemoryRegion {
  ProtectionDomain domain{};
  std::uint64_t address = 0;  // what peers call its first byte
  std::uint64_t length = 0;
  std::byte* bytes = nullptr;  // where it is; null where only lengths matter, as in simulation
  bool remote_write = true;
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
  kOutOfBounds,
};

// The regions of an endpoint by their key (MRC 6.3). A key has the slot in its upper 24 bits and
// the number of its use in the lower 8, so that the key of a region that is gone does not open its
// successor.
class MemoryRegions {
 public:
  explicit MemoryRegions(std::size_t limit) : limit_(std::min(limit, kRegionsMax)), slots_(1) {
    slots_[0].key = RKey(RKey::kMax);  // no key leads here and none is equal
  }

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
  // for every packet.
  [[nodiscard]] Result<std::byte*, AccessError> find_writable(const Access& access) const {
    const std::size_t slot = access.key.raw() >> kUseBits;
    if (slot >= slots_.size() || slots_[slot].key != access.key) {
      return failure(AccessError::kUnknownKey);
    }
    const MemoryRegion& region = slots_[slot].region;
    if (region.domain != access.domain) return failure(AccessError::kOtherDomain);
    if (!region.remote_write) return failure(AccessError::kNotWritable);
    // In this order nothing can wrap.
    const std::uint64_t offset = access.address - region.address;
    if (access.address < region.address || access.length > region.length ||
        offset > region.length - access.length) {
      return failure(AccessError::kOutOfBounds);
    }
    return region.bytes == nullptr ? nullptr : region.bytes + offset;
  }

 private:
  static constexpr unsigned kUseBits = 8;
  static constexpr std::size_t kRegionsMax = (1u << (32 - kUseBits)) - 2;

  struct alignas(64) Slot {  // a packet reads one cache line
    RKey key{};              // the slot's own while it holds a region, otherwise 0
    std::uint8_t uses = 0;
    MemoryRegion region{};
  };

  std::size_t limit_;
  std::vector<Slot> slots_;
  GrowingRing<std::uint32_t> free_;  // the longest free is used first, so that old keys stay dead
};

}  // namespace openmrc::core
