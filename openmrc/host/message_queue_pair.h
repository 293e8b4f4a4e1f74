// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "openmrc/base/ids.h"
#include "openmrc/base/result.h"
#include "openmrc/host/host.h"
#include "openmrc/messages/layer.h"

namespace openmrc::host {

// Receives that many queue pairs take from. Any thread may use it. Must outlive its queue pairs.
class SharedReceiveQueue {
 public:
  ~SharedReceiveQueue();
  SharedReceiveQueue(const SharedReceiveQueue&) = delete;
  SharedReceiveQueue& operator=(const SharedReceiveQueue&) = delete;

  // How many were posted, one after the other, until one was refused.
  struct Posted {
    std::size_t count = 0;
    Result<void, messages::PostError> last{};
  };
  [[nodiscard]] Posted post(std::span<const messages::ReceiveRequest> receives);
  // An event once fewer than so many are left; 0: none.
  void set_limit(std::size_t limit);

 private:
  friend class Host;
  friend class MessageQueuePair;
  SharedReceiveQueue(Shard& shard, messages::SharedQueueId id) : shard_(shard), id_(id) {}

  Shard& shard_;
  messages::SharedQueueId id_;
};

struct MessageQueuePairOptions {
  MessageSink* sink = nullptr;  // where its completions and events go
  messages::QueuePairOptions queues{};
  SharedReceiveQueue* shared = nullptr;  // where its receives come from; null: its own
  std::optional<ProtectionDomain> domain{};
};

// One end of a reliable connection with messages, as InfiniBand's verbs have them, to a peer that
// has them, too (docs/protocol/messages.md). Any thread may use it.
class MessageQueuePair {
 public:
  using ModifyError = core::ModifyError;
  using Posted = SharedReceiveQueue::Posted;

  ~MessageQueuePair();
  MessageQueuePair(const MessageQueuePair&) = delete;
  MessageQueuePair& operator=(const MessageQueuePair&) = delete;

  [[nodiscard]] Qpn number() const { return qpn_; }

  // What the peer may do to the memory of the domain.
  struct Access {
    bool remote_write = true;
    messages::Access messages{};
  };
  [[nodiscard]] Result<void, ModifyError> to_init(const Access& access);
  struct Peer {
    Qpn qpn{};
    Psn psn{};              // of its first packet
    std::uint32_t mtu = 0;  // 0: as configured
  };
  [[nodiscard]] Result<void, ModifyError> to_ready_to_recv(
      const Destination& destination, const Peer& peer,
      const messages::ResponderAttributes& attributes);
  // Timeouts and retries are those of the configuration: they are about paths.
  [[nodiscard]] Result<void, ModifyError> to_ready_to_send(
      Psn first_psn, const messages::RequesterAttributes& attributes);
  // What was posted is flushed.
  [[nodiscard]] Result<void, ModifyError> to_error();
  // What was posted is forgotten; completions that were reported are not.
  [[nodiscard]] Result<void, ModifyError> to_reset();

  // One after the other, with one turn of the lock, until one is refused.
  [[nodiscard]] Posted post_sends(std::span<const messages::SendRequest> sends);
  [[nodiscard]] Posted post_receives(std::span<const messages::ReceiveRequest> receives);
  // There will be as many, unless somebody posts.
  [[nodiscard]] std::size_t free_sends() const;

  [[nodiscard]] core::QueuePairState state() const;
  // Why it is in ERROR, for people; nothing if it was not the network or the peer.
  [[nodiscard]] std::optional<std::string> failure_text() const;
  [[nodiscard]] const std::string& peer_name() const { return peer_.name; }

 private:
  friend class Host;
  MessageQueuePair(Host& host, Shard& shard, ProtectionDomain domain)
      : host_(host), shard_(shard), domain_(domain) {}
  [[nodiscard]] core::ReadyToSendAttributes send_attributes() const;

  Host& host_;
  Shard& shard_;
  Qpn qpn_{};
  ProtectionDomain domain_;
  Destination peer_;
};

}  // namespace openmrc::host
