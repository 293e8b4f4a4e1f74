// SPDX-License-Identifier: BSD-3-Clause
#include "tests/world/message_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "openmrc/base/rng.h"

namespace openmrc::test {

ConstBytes pattern() {
  static const std::vector<std::byte> kBytes = [] {
    std::vector<std::byte> bytes(1 << 18);
    std::uint64_t state = 1;
    for (std::byte& byte : bytes) {
      byte = static_cast<std::byte>(split_mix(state));
      if (byte == PlacedMemory::kUntouched || byte == PlacedMemory::kTakenBack) byte = {};
    }
    return bytes;
  }();
  return kBytes;
}

std::size_t PlacedMemory::add(std::size_t size, std::size_t alignment) {
  used_ = (used_ + kGap + alignment - 1) / alignment * alignment;
  places_.push_back({.offset = used_, .size = size});
  used_ += size;
  return places_.size() - 1;
}

void PlacedMemory::allocate() { bytes_.assign(used_ + kGap + kGuard, kUntouched); }

bool PlacedMemory::is_filled(std::size_t from, std::size_t to, std::byte with) const {
  return std::all_of(bytes_.begin() + static_cast<std::ptrdiff_t>(from),
                     bytes_.begin() + static_cast<std::ptrdiff_t>(to),
                     [with](std::byte b) { return b == with; });
}

bool PlacedMemory::holds(std::size_t place, ConstBytes bytes) const {
  const Place& p = places_[place];
  const bool same =
      bytes.empty() || std::memcmp(bytes_.data() + p.offset, bytes.data(), bytes.size()) == 0;
  return same && is_filled(p.offset + bytes.size(), p.offset + p.size, kUntouched);
}

bool PlacedMemory::may_become(std::size_t place, ConstBytes bytes) const {
  const ConstBytes now = at(place);
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] != kUntouched && (i >= bytes.size() || now[i] != bytes[i])) return false;
  }
  return true;
}

void PlacedMemory::take_back(std::size_t place) {
  places_[place].taken_back = true;
  std::ranges::fill(at(place), kTakenBack);
}

void PlacedMemory::check(Verdict& verdict) const {
  std::size_t gap = 0;
  for (const Place& place : places_) {
    if (!is_filled(gap, place.offset, kUntouched)) {
      return verdict.violation(name_ + ": memory between what was posted was written");
    }
    gap = place.offset + place.size;
    if (place.taken_back && !is_filled(place.offset, gap, kTakenBack)) {
      return verdict.violation(fmt::format(
          "{}: memory that the application has back was written, at {}", name_, place.offset));
    }
  }
  if (!is_filled(gap, bytes_.size(), kUntouched)) {
    verdict.violation(name_ + ": memory behind what was posted was written");
  }
}

}  // namespace openmrc::test
