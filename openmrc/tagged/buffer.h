// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "openmrc/host/host.h"

namespace openmrc::tagged {

class Group;

// Memory that messages of a group are sent from, or received into. What was sent and received is
// counted; Group::wait takes from the count. The group guards it. Group::forget comes before its
// end, and before that of its memory.
class Buffer {
 public:
  explicit Buffer(std::span<std::byte> bytes) : bytes_(bytes) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  friend class Group;

  // One direction.
  struct Count {
    unsigned done = 0;
    int rank = -1;         // the other end of the last one
    bool aborted = false;  // whoever waits shall not
  };

  std::span<std::byte> bytes_;
  Count sends_;
  Count receives_;
  std::unique_ptr<host::MemoryRegion> region_;  // once it was announced
};

}  // namespace openmrc::tagged
