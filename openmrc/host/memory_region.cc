// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/memory_region.h"

#include <algorithm>

#include "openmrc/host/host.h"

namespace openmrc::host {

MemoryRegion::~MemoryRegion() {
  const bool is_registered = remote_.rkey != 0;
  if (is_registered && host_.is_of_this_process()) host_.deregister(RKey(remote_.rkey));
}

bool MemoryRegion::is_being_read() const {
  return std::ranges::any_of(host_.shards_, [&](const auto& shard) {
    return shard->look_at_messages(
        [&](const messages::Layer& layer) { return layer.is_read_from(RKey(remote_.rkey)); });
  });
}

}  // namespace openmrc::host
