// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "openmrc/base/rng.h"

namespace openmrc::tools {

// The bytes of a message that is verified: different for each message and at each place, so that
// nothing that was left out, came twice or went elsewhere can look right.
class Pattern {
 public:
  Pattern(std::uint32_t lane, std::uint64_t message) {
    std::uint64_t state = message * 0x1'0000'0001 + lane;
    first_ = split_mix(state);
  }

  void fill(std::span<std::byte> bytes) const {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
      const std::uint64_t word = word_at(at);
      std::memcpy(bytes.data() + at, &word, length_at(at, bytes.size()));
    }
  }
  // Where the bytes begin to differ from it; nothing if they do not.
  [[nodiscard]] std::optional<std::size_t> find_difference(std::span<const std::byte> bytes) const {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
      const std::uint64_t word = word_at(at);
      if (std::memcmp(bytes.data() + at, &word, length_at(at, bytes.size())) != 0) return at;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::uint64_t word_at(std::size_t at) const {
    return first_ + at * 0x9e37'79b9'7f4a'7c15;
  }
  static std::size_t length_at(std::size_t at, std::size_t size) {
    return size - at < sizeof(std::uint64_t) ? size - at : sizeof(std::uint64_t);
  }

  std::uint64_t first_;
};

}  // namespace openmrc::tools
