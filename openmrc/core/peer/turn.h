// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/context/context.h"
#include "openmrc/core/memory/memory_regions.h"
#include "openmrc/core/memory/message_handler.h"
#include "openmrc/core/peer/peer.h"

namespace openmrc::core {

using QueuePairIndex = std::uint32_t;

// Who is connected to whom: what a queue pair knows from RTR on.
struct Connection {
  Qpn local{};
  Qpn remote{};
  QueuePairIndex index = 0;
  std::uint32_t serial = 0;  // no two connections of an endpoint have the same
  PeerIndex peer = 0;
  std::uint32_t mtu = 0;
  ProtectionDomain domain{};
  bool dynamic_mpr = false;
  bool peer_sends_trim_nacks = true;
  MessageHandler* messages = nullptr;  // what is behind it; null: it is a plain MRC queue pair
};

// What a queue pair's parts work with during one call.
struct Turn {
  Context& context;
  const Connection& connection;
  Peer& peer;
  Instant now;
};

}  // namespace openmrc::core
