// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/endpoint/asked_requests.h"

#include <cstddef>

namespace openmrc::core {

std::optional<wire::EndpointRequestId> AskedRequests::add(const AskedRequest& request,
                                                          wire::EndpointRequestId taken) {
  for (std::size_t tries = 0; tries < kAskedMax; ++tries) {
    const wire::EndpointRequestId id(ids_.upper(next_++ % kAskedMax));
    const AskedRequest* before = find(id);
    const bool is_awaited = before != nullptr && request.sent < before->sent + kAskedAwaitedFor;
    if (id == taken || is_awaited) continue;
    awaited_[id.raw()] = request;
    return id;
  }
  return std::nullopt;
}

}  // namespace openmrc::core
