// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/result.h"
#include "openmrc/base/rng.h"
#include "openmrc/core/endpoint/endpoint_requests.h"
#include "openmrc/core/endpoint/endpoint_state.h"
#include "openmrc/core/endpoint/send_queue.h"

namespace openmrc::core {

enum class CreateError : std::uint8_t {
  kLimit,       // as many queue pairs as the endpoint's limit
  kAttributes,  // of datagrams: MTU or queue out of range
};

enum class ModifyError : std::uint8_t {
  kNoQueuePair,
  kTransition,  // not from this state (MRC 6.1)
  kProfile,     // no such EV or congestion profile
  kPlanes,      // addresses, profile and local ports differ in their number of planes
  kEvFormat,    // IPv4 carries 16 bits of an EV: only the UDP format fits
  kMtu,         // outside kMtuMin to kMtuMax
  kWindow,      // an MPR or a limit of immediates of 0
  kRetry,       // a timeout or a retry count above its maximum
  kRemoteQpn,   // the peer's number is reserved
};

// Brings queue pairs from state to state (MRC 6.1, 10.1), and connects them to peers.
class Connections {
 public:
  // `rng` seeds the paths of peers.
  Connections(EndpointState& state, SendQueue& sending, PathProbes& probes,
              EndpointRequests& requests, Rng& rng)
      : state_(state), sending_(sending), probes_(probes), requests_(requests), rng_(rng) {}

  Result<Qpn, CreateError> create(MessageHandler* messages);
  bool destroy(Qpn qpn);
  [[nodiscard]] Result<void, ModifyError> to_init(Qpn qpn, const InitAttributes& attributes);
  [[nodiscard]] Result<void, ModifyError> to_ready_to_recv(Qpn qpn, Instant now,
                                                           const ReadyToRecvAttributes& attributes);
  [[nodiscard]] Result<void, ModifyError> to_ready_to_send(Qpn qpn, Instant now,
                                                           const ReadyToSendAttributes& attributes);
  [[nodiscard]] Result<void, ModifyError> to_error(Qpn qpn, Instant now);
  [[nodiscard]] Result<void, ModifyError> to_reset(Qpn qpn);
  // The protocol ends a queue pair.
  void fail(QueuePair& qp, const Fatal& fatal, Instant now);

 private:
  // Null if there is none that could be connected.
  [[nodiscard]] QueuePair* find(Qpn qpn) const;
  [[nodiscard]] Result<void, ModifyError> check(const InitAttributes& init,
                                                const ReadyToRecvAttributes& attributes) const;
  [[nodiscard]] static Result<void, ModifyError> check(const ReadyToSendAttributes& attributes);
  [[nodiscard]] PeerIndex join_peer(const QueuePair& qp, const ReadyToRecvAttributes& attributes);
  [[nodiscard]] PeerIndex add_peer(const InitAttributes& init,
                                   const ReadyToRecvAttributes& attributes);
  void leave_peer(QueuePair& qp);
  void disconnect(QueuePair& qp, Flush how, Instant now);
  void change_state(QueuePair& qp, QueuePairState state, Instant now);

  EndpointState& state_;
  SendQueue& sending_;
  PathProbes& probes_;
  EndpointRequests& requests_;
  Rng& rng_;
  std::uint32_t serial_ = 0;  // of the latest connection or peer: what is queued outlives them
};

}  // namespace openmrc::core
