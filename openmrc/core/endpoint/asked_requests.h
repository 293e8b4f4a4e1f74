// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/context/limits.h"
#include "openmrc/core/context/settings.h"
#include "openmrc/core/context/work.h"
#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/core/peer/peer_index.h"
#include "openmrc/wire/packet.h"

namespace openmrc::core {

// An endpoint request that the endpoint's owner asked for (MRC 7.3), and that has not been
// answered.
struct AskedRequest {
  // The peer of a queue pair, whose path is asked about; nothing for one by a path of the owner's
  // choice.
  struct Path {
    PeerIndex peer = 0;
    std::uint32_t peer_serial = 0;
    Qpn qpn{};
    EvIndex ev{};
  };
  std::optional<Path> path{};
  std::uint32_t tag = 0;
  Instant sent{};
  std::optional<DirectRequest> unsent{};  // until it has left
};

// These requests by number. They may go to any host, and any of its addresses may answer: so the
// number alone must say which is answered, and no two have the same (REL-94).
class AskedRequests {
 public:
  // Counts through the upper half of `ids`, from `first` on.
  AskedRequests(std::uint16_t first, const RequestIds& ids) : ids_(ids), next_(first) {}

  // Gives it a number other than `taken`. Nothing if all are awaited; after kAskedAwaitedFor a
  // request is not awaited any more if another needs its number.
  std::optional<wire::EndpointRequestId> add(const AskedRequest& request,
                                             wire::EndpointRequestId taken);
  [[nodiscard]] AskedRequest* find(wire::EndpointRequestId id) {
    const auto found = awaited_.find(id.raw());
    return found == awaited_.end() ? nullptr : &found->second;
  }
  void remove(wire::EndpointRequestId id) { awaited_.erase(id.raw()); }

 private:
  RequestIds ids_;
  std::uint16_t next_;
  std::unordered_map<std::uint16_t, AskedRequest> awaited_;
};

}  // namespace openmrc::core
