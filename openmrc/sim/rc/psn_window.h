// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>

namespace openmrc::sim {

// A bit for each of the packets that a queue pair can have in flight, by serial number. Numbers
// that are so far apart share a bit: whoever leaves a number behind clears it.
class PsnWindow {
 public:
  static constexpr std::int64_t kPackets = 4096;

  [[nodiscard]] bool has(std::int64_t psn) const { return bits_[place(psn)]; }
  void set(std::int64_t psn) { bits_[place(psn)] = true; }
  void clear(std::int64_t psn) { bits_[place(psn)] = false; }

 private:
  static std::size_t place(std::int64_t psn) {
    return static_cast<std::size_t>(psn) % static_cast<std::size_t>(kPackets);
  }
  std::bitset<kPackets> bits_;
};

}  // namespace openmrc::sim
