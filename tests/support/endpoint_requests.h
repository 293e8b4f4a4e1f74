// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <variant>
#include <vector>

#include "openmrc/core/endpoint/transmit.h"
#include "openmrc/wire/packet.h"
#include "tests/support/scripted_peer.h"

// Endpoint requests as tests see them: what an endpoint has sent of them, and answers.
namespace openmrc::test {

using core::Transmit;
using Sent = std::vector<Transmit>;

// What was sent of one kind, with its route.
inline Sent requests(const Sent& sent, wire::EndpointOp op) {
  Sent found;
  for (const Transmit& one : sent) {
    const auto* request = std::get_if<wire::EndpointRequest>(&one.packet.transport.body);
    if (request != nullptr && request->erth.op == op) found.push_back(one);
  }
  return found;
}
inline Sent ev_probes(const Sent& sent) { return requests(sent, wire::EndpointOp::kEvProbe); }
inline Sent port_statuses(const Sent& sent) {
  return requests(sent, wire::EndpointOp::kPortStatusUpdate);
}

inline const wire::EndpointRequest& request_of(const Transmit& sent) {
  return std::get<wire::EndpointRequest>(sent.packet.transport.body);
}

inline void answer(ScriptedPeer& peer, const Transmit& request) {
  peer.deliver(wire::EndpointResponse{.id = request_of(request).id, .eeth = {}},
               {.plane = request.plane});
}

// The peer says that the path is bad.
inline void make_bad(ScriptedPeer& peer, Ev ev) {
  wire::Sack sack = peer.sack(0);
  sack.seth.mark = wire::PathMark::kAlwaysSkip;
  sack.seth.entropy = ev;
  peer.deliver(sack);
  ASSERT_EQ(peer.ev_state(ev), core::EvState::kAssumedBad);
}

}  // namespace openmrc::test
