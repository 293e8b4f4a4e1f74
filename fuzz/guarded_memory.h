// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "fuzz/fuzz_check.h"
#include "openmrc/base/bytes.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OPENMRC_FUZZ_POISONS 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define OPENMRC_FUZZ_POISONS 1
#endif
#ifdef OPENMRC_FUZZ_POISONS
#include <sanitizer/asan_interface.h>
#endif

namespace openmrc::fuzz {

// Three pieces of one allocation, apart by zones that nobody may touch: the sanitizer stops whoever
// does, and without one their content shows it at the end. What the first piece shall hold is kept
// twice, so that a stray write inside it shows as well; the other two shall never change.
class GuardedMemory {
 public:
  static constexpr std::size_t kGuardSize = 136;
  static constexpr std::size_t kOpenSize = 1000;  // no multiple of a granule of the sanitizer
  static constexpr std::size_t kClosedSize = 256;

  GuardedMemory() : all_(kSize, kCanary), expected_(kOpenSize, kCanary) {
    for (const std::size_t at : kGuards) poison(at);
  }
  ~GuardedMemory() {
    for (const std::size_t at : kGuards) unpoison(at);
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* open() { return &all_[kOpenAt]; }            // the peer may write here
  std::byte* read_only() { return &all_[kReadOnlyAt]; }   // the domain is right
  std::byte* elsewhere() { return &all_[kElsewhereAt]; }  // of another domain

  // Somebody was allowed to put this there.
  void expect(std::uint64_t offset, ConstBytes bytes) {
    FUZZ_CHECK(offset <= kOpenSize && bytes.size() <= kOpenSize - offset);
    std::copy(bytes.begin(), bytes.end(), expected_.begin() + static_cast<std::ptrdiff_t>(offset));
  }

  void check() const {
    FUZZ_CHECK(std::memcmp(expected_.data(), &all_[kOpenAt], kOpenSize) == 0);
    FUZZ_CHECK(is_canary(kReadOnlyAt, kClosedSize) && is_canary(kElsewhereAt, kClosedSize));
  }
  // At the end: the zones can be read from now on.
  void check_guards() {
    for (const std::size_t at : kGuards) {
      unpoison(at);
      FUZZ_CHECK(is_canary(at, kGuardSize));
    }
  }

 private:
  static constexpr std::byte kCanary{0xc5};
  static constexpr std::size_t kOpenAt = kGuardSize;
  static constexpr std::size_t kReadOnlyAt = kOpenAt + kOpenSize + kGuardSize;
  static constexpr std::size_t kElsewhereAt = kReadOnlyAt + kClosedSize + kGuardSize;
  static constexpr std::size_t kSize = kElsewhereAt + kClosedSize + kGuardSize;
  static constexpr std::array kGuards{std::size_t{0}, kReadOnlyAt - kGuardSize,
                                      kElsewhereAt - kGuardSize, kSize - kGuardSize};

  [[nodiscard]] bool is_canary(std::size_t at, std::size_t size) const {
    static const std::vector<std::byte> canaries(kClosedSize, kCanary);
    return std::memcmp(&all_[at], canaries.data(), size) == 0;
  }
#ifdef OPENMRC_FUZZ_POISONS
  void poison(std::size_t at) { ASAN_POISON_MEMORY_REGION(&all_[at], kGuardSize); }
  void unpoison(std::size_t at) { ASAN_UNPOISON_MEMORY_REGION(&all_[at], kGuardSize); }
#else
  void poison(std::size_t) {}
  void unpoison(std::size_t) {}
#endif

  std::vector<std::byte> all_;
  std::vector<std::byte> expected_;
};

}  // namespace openmrc::fuzz
