// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "openmrc/core/context/settings.h"
#include "openmrc/core/endpoint/queue_pair_state.h"
#include "openmrc/core/peer/turn.h"
#include "openmrc/core/requestor/requestor.h"
#include "openmrc/core/responder/responder.h"

namespace openmrc::core {

class DatagramQueue;

// One queue pair: its state and its two halves. The endpoint moves it.
struct QueuePair {
  QueuePairState state = QueuePairState::kReset;
  // Which list of the endpoint it is on. (MRC 8: Ready and Active; on none it is Idle or Pending.)
  enum class Queued : std::uint8_t { kNowhere, kReady, kWaiting };
  Queued queued = Queued::kNowhere;
  bool destroyed = false;  // freed as soon as it is on no list
  std::uint8_t burst = 0;  // packets sent in its turn
  PoolIndex next = kNoElement;
  InitAttributes init{};
  Connection connection{};
  Requestor requestor;
  Responder responder;
  // What broke it, to be repeated to a peer that did not receive it.
  std::optional<Responder::Refusal> refusal;
  // Not null: it is for datagrams, and never connected (UD-3).
  DatagramQueue* datagrams = nullptr;
};

}  // namespace openmrc::core
