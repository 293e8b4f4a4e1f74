// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/softswitch/packet_pool.h"

#include <algorithm>

namespace openmrc::softswitch {

PacketPool::PacketPool(std::size_t buffers)
    : slots_(buffers),
      memory_(std::make_unique_for_overwrite<std::byte[]>(buffers * kPacketSizeMax)) {
  OPENMRC_CHECK(buffers > 0 && buffers <= kBuffersMax, "the settings have been checked");
  for (std::size_t i = 0; i + 1 < buffers; ++i) slots_[i].next = static_cast<BufferIndex>(i + 1);
}

MutableBytes PacketPool::store(BufferIndex index, ConstBytes packet) {
  OPENMRC_DCHECK(packet.size() <= kPacketSizeMax, "it fits into a buffer");
  slots_[index].size = static_cast<std::uint32_t>(packet.size());
  const MutableBytes copy = bytes(index);
  std::copy_n(packet.data(), packet.size(), copy.data());
  return copy;
}

}  // namespace openmrc::softswitch
