// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/base/quantity.h"
#include "openmrc/base/result.h"
#include "openmrc/core/context/completion.h"
#include "openmrc/core/context/settings.h"
#include "openmrc/core/context/work.h"
#include "openmrc/core/endpoint/connections.h"
#include "openmrc/core/endpoint/queue_pair_state.h"
#include "openmrc/core/paths/ev_state.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/host/error.h"
#include "openmrc/host/exchange.h"
#include "openmrc/host/memory_region.h"
#include "openmrc/wire/field/ip_address.h"

namespace openmrc::host {

class CompletionQueue;
class Host;
class Shard;

using core::PostError;
using core::WorkId;
using core::WorkStatus;

struct QueuePairOptions {
  CompletionQueue* writes = nullptr;    // where completions of writes go
  CompletionQueue* receives = nullptr;  // null: to the same
  std::optional<std::size_t> shard{};   // which one serves it; otherwise they take turns
  std::optional<ProtectionDomain> domain{};
};

// The other end of a connection, as far as it is known without asking it.
struct Destination {
  std::string name{};                          // for messages
  std::vector<wire::Ipv6Address> addresses{};  // by plane
  std::optional<fabric::HostIndex> place{};    // in the fabric
};

// MRC 10.1.2: attributes of a queue pair that is connected step by step. What is not given comes
// from the configuration.
struct ReceiveAttributes {
  Qpn remote_qpn{};
  Psn remote_psn{};
  std::optional<core::EvProfileId> ev_profile{};  // one that was added; otherwise the host's own
  std::optional<core::CcProfileId> cc_profile{};  // the same
  std::uint32_t mtu = 0;                          // payload bytes of a packet; 0: as configured
  std::uint8_t mpr_dest = 32;                     // window that we offer, in 128 packets
  std::uint16_t max_wimm_dest = 1024;             // writes with immediate that we hold
  bool dynamic_mpr = false;
  bool peer_sends_trim_nacks = true;
  bool places_in_order = false;  // for programs that watch memory
};

struct Write {
  WorkId id = 0;
  std::span<const std::byte> data{};  // must stay until the completion
  std::uint64_t remote_address = 0;
  RKey rkey{};
  std::optional<std::uint32_t> immediate{};  // the peer is notified, if it has posted a receive
};

// How many paths are in which state, in one plane.
struct PlanePaths {
  std::array<unsigned, core::kEvStateCount> evs{};
  bool peer_is_down = false;  // the peer reports that its port is (MRC 7.4.8)
};

// How much may be sent at the moment.
struct SendWindow {
  std::int64_t psns = 0;  // packets of the queue pair beyond what is acknowledged (MRC 7.5.1)
  ByteCount bytes{};      // in flight to the destination, of all its queue pairs (MRC 8)
};

// One end of a connection. Any thread may use it.
class QueuePair {
 public:
  ~QueuePair();
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  [[nodiscard]] Qpn number() const { return qpn_; }
  // What the peer needs to know to connect to it.
  [[nodiscard]] ConnectionInfo connection_info() const;
  // Connects to the queue pair that `peer` describes, which is to be connected to this one.
  [[nodiscard]] Result<void, Error> connect(const ConnectionInfo& peer);

  // The same step by step (MRC 6.1).
  using ModifyError = core::ModifyError;
  [[nodiscard]] Result<void, ModifyError> to_init();
  [[nodiscard]] Result<void, ModifyError> to_ready_to_recv(const Destination& peer,
                                                           const ReceiveAttributes& attributes);
  [[nodiscard]] Result<void, ModifyError> to_ready_to_send(
      const core::ReadyToSendAttributes& attributes);
  [[nodiscard]] Result<void, ModifyError> to_error();
  [[nodiscard]] Result<void, ModifyError> to_reset();

  [[nodiscard]] Result<void, PostError> post_write(const Write& write);
  // One after the other, with one turn of the lock, until one is refused.
  struct Posted {
    std::size_t count = 0;
    Result<void, PostError> last{};  // why the next was not, if one was refused
  };
  [[nodiscard]] Posted post_writes(std::span<const Write> writes);
  [[nodiscard]] Result<void, PostError> post_receive(WorkId id);

  [[nodiscard]] core::QueuePairState state() const;
  // Why it is in ERROR, for people: who, which path, since when, what to do.
  [[nodiscard]] std::optional<std::string> failure_text() const;
  // By plane; empty before it is connected.
  [[nodiscard]] std::vector<PlanePaths> paths() const;
  // Nothing unless it is ready to send.
  [[nodiscard]] std::optional<SendWindow> send_window() const;
  [[nodiscard]] const std::string& peer_name() const { return peer_.name; }
  // Its place in the fabric, if both have one.
  [[nodiscard]] std::optional<fabric::HostIndex> peer_place() const { return peer_.place; }

  // How much the peer may send from now on; it learns so with the next SACK.
  // MRC 7.5.1: in 128 packets, 1 to what was offered at first. False: it is not, or the two ends
  // did not agree to it (dynamic_mpr).
  bool offer_mpr(std::uint8_t mpr);
  // MRC 8: how much less, 0 to 127. 64 halves its window in a round trip, 127 leads to one packet;
  // 0 gives the window back. False: more than that.
  bool set_receiver_penalty(std::uint8_t penalty);

  // Probes one path, by its place in the profile; what is answered is fetched with the tag.
  bool probe_path(core::EvIndex ev, std::uint32_t tag);
  [[nodiscard]] std::vector<core::ProbeAnswer> take_probe_answers();

 private:
  friend class Host;
  QueuePair(Host& host, Shard& shard, Qpn qpn, Psn psn, ProtectionDomain domain)
      : host_(host), shard_(shard), qpn_(qpn), psn_(psn), domain_(domain) {}

  Host& host_;
  Shard& shard_;
  Qpn qpn_;
  Psn psn_;
  ProtectionDomain domain_;
  Destination peer_;
};

}  // namespace openmrc::host
