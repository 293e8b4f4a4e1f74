// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace openmrc::fuzz {

// The fuzzer's bytes, one after the other; zeros when they have run out.
class FuzzInput {
 public:
  explicit FuzzInput(std::span<const std::uint8_t> bytes) : left_(bytes) {}

  [[nodiscard]] bool empty() const { return left_.empty(); }

  std::uint8_t u8() {
    if (left_.empty()) return 0;
    const std::uint8_t byte = left_.front();
    left_ = left_.subspan(1);
    return byte;
  }
  std::uint16_t u16() {
    const unsigned high = u8();
    return static_cast<std::uint16_t>(high << 8 | u8());
  }
  std::uint32_t u32() {
    const std::uint32_t high = u16();
    return high << 16 | u16();
  }
  std::uint64_t u64() {
    const std::uint64_t high = u32();
    return high << 32 | u32();
  }
  std::int64_t small() { return static_cast<std::int8_t>(u8()); }
  bool flag() { return (u8() & 1) != 0; }
  std::size_t below(std::size_t bound) { return u8() % bound; }
  std::span<const std::uint8_t> take(std::size_t count) {
    const auto taken = left_.first(count < left_.size() ? count : left_.size());
    left_ = left_.subspan(taken.size());
    return taken;
  }

 private:
  std::span<const std::uint8_t> left_;
};

}  // namespace openmrc::fuzz
