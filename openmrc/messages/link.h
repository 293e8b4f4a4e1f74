// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/ids.h"
#include "openmrc/core/containers/growing_ring.h"
#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/messages/work.h"

namespace openmrc::messages {

// Why the layer posted a write to the core, and which one it was: what its completion is for.
struct CoreWork {
  enum class Purpose : std::uint8_t { kUser, kCredit, kAsk, kResponse };
  Purpose purpose = Purpose::kUser;
  std::int64_t number = 0;

  [[nodiscard]] constexpr WorkId id() const {
    return static_cast<WorkId>(purpose) << 62 | static_cast<WorkId>(number);
  }
  static constexpr CoreWork read(WorkId id) {
    return {.purpose = static_cast<Purpose>(id >> 62),
            .number = static_cast<std::int64_t>(id & ((WorkId{1} << 62) - 1))};
  }
};

constexpr Status status_of(core::WorkStatus status) {
  switch (status) {
    case core::WorkStatus::kSuccess: return Status::kSuccess;
    case core::WorkStatus::kFlushed: return Status::kFlushed;
    case core::WorkStatus::kRetryExceeded: return Status::kRetryExceeded;
    case core::WorkStatus::kRemoteAccess: return Status::kRemoteAccess;
    case core::WorkStatus::kRemoteInvalidRequest: return Status::kRemoteInvalidRequest;
    case core::WorkStatus::kRemoteOperation: return Status::kRemoteOperation;
  }
  return Status::kFlushed;
}

// What both halves of a queue pair work with.
struct Link {
  core::Endpoint& endpoint;
  core::GrowingRing<Completion>& completions;
  Qpn qpn{};
  Psn peer_first_psn{};             // of what the peer sends
  mutable bool lacks_room = false;  // the endpoint refused a write (MSG-28)
};

// What came of an attempt to send.
enum class Posted : std::uint8_t {
  kYes,
  kLater,   // the endpoint has as much work as it takes (MSG-28)
  kBroken,  // the queue pair is not, or no longer, ready to send
};
inline Posted post_to_core(const Link& link, Instant now, const core::WriteRequest& request) {
  const auto posted = link.endpoint.post_write(link.qpn, now, request);
  if (posted) return Posted::kYes;
  if (posted.error() != core::PostError::kLimit) return Posted::kBroken;
  link.lacks_room = true;
  return Posted::kLater;
}

}  // namespace openmrc::messages
