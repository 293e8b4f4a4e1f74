// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "openmrc/core/context/limits.h"
#include "openmrc/core/context/settings.h"
#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/core/peer/peer.h"
#include "openmrc/wire/packet.h"

namespace openmrc::core {

// An endpoint request of ours (MRC 7.3) that has not been answered.
struct AwaitedRequest {
  enum class Kind : std::uint8_t { kNothing, kBadEv, kReversePath, kPortStatus, kAsked, kDirect };
  Kind kind = Kind::kNothing;
  EvIndex ev{};
  wire::EndpointRequestId id{};
  PeerIndex peer = 0;
  std::uint32_t peer_serial = 0;
  // kAsked and kDirect: by whom, and when.
  Qpn qpn{};
  std::uint32_t tag = 0;
  Instant sent{};
};

// The endpoint requests whose answers are awaited, by number. Holds the latest ones: at most
// kEndpointRequestsAwaitedMax, and room for more is made only when they are really awaited.
class AwaitedRequests {
 public:
  // Counts through `ids`, from `first` on as far as its bits count.
  explicit AwaitedRequests(std::uint16_t first, const RequestIds& ids = {})
      : ids_(ids), next_(first) {}

  // Gives it a number.
  wire::EndpointRequestId add(AwaitedRequest request) {
    request.id =
        wire::EndpointRequestId(static_cast<std::uint16_t>(ids_.base | (next_++ & ids_.counted)));
    put(request);
    return request.id;
  }
  // Puts one with a number of its own; what was awaited in its place is abandoned.
  void put(const AwaitedRequest& request) {
    while (slots_.empty() ||
           (is_taken(slot(request.id), request) && slots_.size() < kEndpointRequestsAwaitedMax)) {
      grow();
    }
    slot(request.id) = request;
  }
  [[nodiscard]] const AwaitedRequest* find(wire::EndpointRequestId id) const {
    if (slots_.empty()) return nullptr;
    const AwaitedRequest& found = slots_[id.raw() % slots_.size()];
    return found.kind != AwaitedRequest::Kind::kNothing && found.id == id ? &found : nullptr;
  }
  // It has been answered; it is there.
  void remove(wire::EndpointRequestId id) { slot(id) = {}; }

 private:
  static constexpr std::size_t kSlotsFirst = 16;
  static_assert(kEndpointRequestsAwaitedMax % kSlotsFirst == 0);

  static bool is_taken(const AwaitedRequest& slot, const AwaitedRequest& by) {
    return slot.kind != AwaitedRequest::Kind::kNothing && slot.id != by.id;
  }
  AwaitedRequest& slot(wire::EndpointRequestId id) { return slots_[id.raw() % slots_.size()]; }
  void grow() {
    const std::vector<AwaitedRequest> old = std::move(slots_);
    slots_.assign(std::max(kSlotsFirst, old.size() * 2), {});
    for (const AwaitedRequest& request : old) {
      if (request.kind != AwaitedRequest::Kind::kNothing) slot(request.id) = request;
    }
  }

  std::vector<AwaitedRequest> slots_;
  RequestIds ids_;
  std::uint16_t next_;
};

}  // namespace openmrc::core
