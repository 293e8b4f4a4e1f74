// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/core/paths/ev_state.h"
#include "openmrc/wire/header/immdt.h"

namespace openmrc::core {

// The application's own number for what it posted.
using WorkId = std::uint64_t;

enum class WorkStatus : std::uint8_t {
  kSuccess,
  kFlushed,               // the queue pair left service before it was done
  kRetryExceeded,         // the peer did not answer, or refused again and again
  kRemoteAccess,          // key, domain or bounds: the peer may not be written to there
  kRemoteInvalidRequest,  // no receive posted at the peer, or more immediates than it holds
  kRemoteOperation,       // the peer could not go on
};

constexpr std::string_view name(WorkStatus status) {
  switch (status) {
    case WorkStatus::kSuccess: return "success";
    case WorkStatus::kFlushed: return "flushed";
    case WorkStatus::kRetryExceeded: return "retry counter exceeded";
    case WorkStatus::kRemoteAccess: return "remote access error";
    case WorkStatus::kRemoteInvalidRequest: return "remote invalid request";
    case WorkStatus::kRemoteOperation: return "remote operation error";
  }
  return {};
}

// What becomes of posted work when its queue pair leaves service: InfiniBand completes it on the
// way to ERROR and forgets it on the way to RESET.
enum class Flush : std::uint8_t { kComplete, kForget };

enum class WorkKind : std::uint8_t {
  kWrite,    // a posted write, with or without immediate
  kReceive,  // a posted receive, taken by the peer's immediate
};

struct Completion {
  WorkId id = 0;
  Qpn qpn{};
  WorkKind kind = WorkKind::kWrite;
  WorkStatus status = WorkStatus::kSuccess;
  std::uint32_t length = 0;     // bytes of the message
  wire::Immediate immediate{};  // of a receive that succeeded
};

// Why a queue pair went to ERROR, for people and logs.
struct Failure {
  Qpn qpn{};
  Qpn remote_qpn{};
  WorkStatus status = WorkStatus::kSuccess;
  bool by_peer = false;       // the peer refused
  bool by_us = false;         // we rejected the peer's request; otherwise the peer did not respond
  Psn psn{};                  // of the request that failed
  std::uint32_t retries = 0;  // of the oldest request, without progress
  bool path_known = false;    // it was sent, and the next two say where it went last
  Ev ev{};
  Plane plane{};
  Instant last_heard{};     // of the peer, anything
  Instant last_feedback{};  // of the peer: SACK, NACK or acknowledgement, for any queue pair
};

// A path changed its state.
struct EvChange {
  std::uint32_t peer = 0;     // the endpoint's number for it
  std::uint32_t profile = 0;  // whose EV it is
  EvIndex index{};
  Ev ev{};
  Plane plane{};
  EvState before = EvState::kGood;
  EvState after = EvState::kGood;
  EvInput cause = EvInput::kMarked;
};

// A path that was probed on request answers.
struct ProbeAnswer {
  Qpn qpn{};              // whose peer was probed; zero for a DirectRequest
  std::uint32_t tag = 0;  // as it was asked with
  EvIndex index{};
  Plane plane{};  // that the answer came by
  Duration rtt{};
};

using Event = std::variant<EvChange, Failure, ProbeAnswer>;

}  // namespace openmrc::core
