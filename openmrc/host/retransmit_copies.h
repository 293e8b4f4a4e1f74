// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "openmrc/core/endpoint/transmit.h"

namespace openmrc::host {

// Copies of what is retransmitted. The peer of an RDMA READ may have all bytes, and have said so to
// the program that owns them, before its acknowledgement is here: the program may unmap memory that
// is still registered, which a NIC has pinned and a processor cannot read any more.
class RetransmitCopies {
 public:
  explicit RetransmitCopies(std::size_t slots) : slots_(slots) {}

  // The payload of a retransmission is a copy afterwards, which stays until `slot` is used again.
  // False if it cannot be read. Other packets are left as they are.
  [[nodiscard]] bool take(core::Transmit& transmit, std::size_t slot);

 private:
  const std::size_t slots_;
  std::vector<std::byte> bytes_{};  // a payload for each slot; none before the first retransmission
};

}  // namespace openmrc::host
