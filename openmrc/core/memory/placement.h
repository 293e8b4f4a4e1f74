// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "openmrc/base/bytes.h"

namespace openmrc::core {

// Puts bytes into memory that an application may be watching. Programs wait for the last word of a
// record to change and then read the rest of it, as they may where RDMA writes memory in ascending
// order: so the last bytes, and all of a small packet, become visible word by word from the first
// to the last. memcpy may store the end first.
inline void place_in_order(std::byte* to, ConstBytes from) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  constexpr std::size_t kInOrder = 256;
  std::size_t at = 0;
  if (from.size() > kInOrder) {
    at = from.size() - kInOrder;
    // So that the words behind are aligned.
    at += -(reinterpret_cast<std::uintptr_t>(to) + at) & (kWord - 1);
    std::memcpy(to, from.data(), at);
  }
  const auto store = [&]<class Word>(Word word) {
    std::memcpy(&word, from.data() + at, sizeof word);
    __atomic_store(reinterpret_cast<Word*>(to + at), &word, __ATOMIC_RELEASE);
    at += sizeof word;
  };
  while (at < from.size()) {
    const std::size_t left = from.size() - at;
    const std::uintptr_t place = reinterpret_cast<std::uintptr_t>(to) + at;
    if (left >= kWord && place % kWord == 0) {
      store(std::uint64_t{});
    } else if (left >= 4 && place % 4 == 0) {
      store(std::uint32_t{});
    } else {
      store(std::uint8_t{});
    }
  }
}

}  // namespace openmrc::core
