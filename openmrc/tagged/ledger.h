// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <list>

namespace openmrc::tagged {

class Buffer;

// What was begun with buffers, in one direction, to one peer. Who waits with a buffer is told only
// that one more is complete, and takes it for the oldest: so a short message that overtakes a long
// one of the same buffer is complete when that one is.
class Ledger {
 public:
  using Id = std::uint32_t;
  // So many of a buffer are complete.
  struct Completed {
    Buffer* buffer = nullptr;
    unsigned count = 0;
  };

  void begin(Id id, Buffer& buffer);
  // One that ended as it began. False: others of the buffer are before it.
  [[nodiscard]] bool is_next(Buffer& buffer);
  // No buffer: there is none of this id.
  [[nodiscard]] Completed finish(Id id);

  [[nodiscard]] bool has(const Buffer& buffer) const;
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  void forget(const Buffer& buffer);

 private:
  struct Entry {
    Id id = 0;
    Buffer* buffer = nullptr;
    bool done = false;
  };
  std::list<Entry> entries_;
};

}  // namespace openmrc::tagged
