// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "tests/support/scripted_peer.h"

// What tests of the responder send to it, and what they ask for of its answers.
namespace openmrc::test {

inline std::vector<wire::Sack> sacks(ScriptedPeer& peer) { return peer.collect_only<wire::Sack>(); }
inline std::vector<wire::Nack> nacks(ScriptedPeer& peer) { return peer.collect_only<wire::Nack>(); }
inline std::vector<wire::Acknowledge> acknowledgements(ScriptedPeer& peer) {
  return peer.collect_only<wire::Acknowledge>();
}

// A request that asks for a SACK.
inline wire::RdmaWrite asking(const ScriptedPeer& peer, std::int64_t index) {
  wire::RdmaWrite write = peer.write(index);
  write.ack_request = true;
  return write;
}

// The `index`th request as the `rqmsn`th message with immediate.
inline wire::RdmaWrite with_immediate(const ScriptedPeer& peer, std::int64_t index,
                                      std::int64_t rqmsn) {
  wire::RdmaWrite write = peer.write(index);
  write.part = wire::MessagePart::only(wire::Immediate(static_cast<std::uint32_t>(0x1000 + rqmsn)));
  write.meth.rqmsn = Rqmsn{} + rqmsn;
  return write;
}

inline wire::TrimmedWrite trimmed(const ScriptedPeer& peer, std::int64_t index,
                                  wire::TrimPlace place = wire::TrimPlace::kOnPath) {
  const wire::RdmaWrite write = peer.write(index);
  return {.place = place,
          .destination_qp = write.destination_qp,
          .psn = write.psn,
          .kind = write.part.kind(),
          .meth = write.meth,
          .sent = write.sent};
}

}  // namespace openmrc::test
