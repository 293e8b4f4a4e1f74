// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace openmrc {

// Numbers that nobody can predict from those he has seen, for queue pairs and keys that others are
// not to guess. SipHash-2-4 of a counter, under a key that the caller draws; the same
// key gives the same numbers on every machine, so that simulations repeat (SEC-6).
class SecretNumbers {
 public:
  using Key = std::array<std::uint64_t, 2>;

  explicit SecretNumbers(const Key& key) : key_(key) {}

  std::uint64_t next();
  // A number in [0, bound), each equally likely. `bound` must not be 0.
  std::uint64_t below(std::uint64_t bound);

 private:
  Key key_;
  std::uint64_t count_ = 0;
};

// A key for one purpose: what is drawn with it says nothing about other purposes of the same key.
[[nodiscard]] SecretNumbers::Key derived(const SecretNumbers::Key& key, std::uint64_t purpose);

// SipHash-2-4 of eight bytes (Aumasson and Bernstein, 2012).
[[nodiscard]] std::uint64_t sip_hash(const SecretNumbers::Key& key, std::uint64_t message);

}  // namespace openmrc
