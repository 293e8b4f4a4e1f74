// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/base/time.h"
#include "tests/world/faults.h"

namespace openmrc::test {

// Somebody through whose hands packets go. He drops, delays, repeats and changes them, and a packet
// that he has changed has the right ICRC. He sees everything, so nothing that is written to the
// connection's memory, and no message that is said to have arrived, can be trusted; what is around
// it must hold nevertheless.
class OnPath {
 public:
  explicit OnPath(Rng rng) : rng_(rng) {}

  // What becomes of a packet that he has taken.
  struct Outcome {
    bool dropped = false;
    bool changed = false;
    Duration later{};
    std::optional<std::vector<std::byte>> repeated{};  // sent besides: what he has kept
  };
  // `bytes` may be changed.
  [[nodiscard]] Outcome attack(Side side, std::vector<std::byte>& bytes);

 private:
  static constexpr std::size_t kKept = 64;
  static constexpr std::int64_t kDelayMaxNs = 2'000'000;

  void keep(Side side, const std::vector<std::byte>& bytes);
  [[nodiscard]] const std::vector<std::byte>& any_kept(Side side);
  void change(Side side, std::vector<std::byte>& bytes);
  void change_byte(std::vector<std::byte>& bytes, std::size_t at);
  void splice(const std::vector<std::byte>& from, std::vector<std::byte>& to);

  Rng rng_;
  std::array<std::vector<std::vector<std::byte>>, 2> kept_;  // by side
};

}  // namespace openmrc::test
