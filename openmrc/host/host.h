// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/base/quantity.h"
#include "openmrc/base/result.h"
#include "openmrc/core/context/completion.h"
#include "openmrc/core/context/counters.h"
#include "openmrc/core/context/work.h"
#include "openmrc/datapath/counters.h"
#include "openmrc/host/completion_queue.h"
#include "openmrc/host/config.h"
#include "openmrc/host/error.h"
#include "openmrc/host/exchange.h"
#include "openmrc/host/poll_backoff.h"
#include "openmrc/host/shard.h"
#include "openmrc/profile/path_plan.h"

// The runtime: what an application of MRC uses. examples/cpp/write.cc shows all of it.
namespace openmrc::host {

using core::PostError;
using core::WorkId;
using core::WorkStatus;

class Host;
class HostValues;
class MessageQueuePair;
class Publisher;
class SharedReceiveQueue;
struct MessageQueuePairOptions;

// Memory that peers may write to, from registration until this is destroyed. Its bytes must stay
// for as long.
class MemoryRegion {
 public:
  ~MemoryRegion();
  MemoryRegion(const MemoryRegion&) = delete;
  MemoryRegion& operator=(const MemoryRegion&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  // What a peer needs to know to write to it.
  [[nodiscard]] RemoteMemory remote() const { return remote_; }
  // Its end would fail a queue pair with messages: the peer has not acknowledged all that it reads.
  // It may have all of it, nevertheless.
  [[nodiscard]] bool is_being_read() const;

 private:
  friend class Host;
  MemoryRegion(Host& host, std::span<std::byte> bytes, const RemoteMemory& info)
      : host_(host), bytes_(bytes), remote_(info) {}

  Host& host_;
  std::span<std::byte> bytes_;
  RemoteMemory remote_;
};

// Memory and queue pairs of one domain may work together, others may not. Who asks for none shares
// the first.
using core::ProtectionDomain;

struct MemoryOptions {
  std::optional<ProtectionDomain> domain{};
  std::optional<std::uint64_t> address{};  // what peers call its first byte; otherwise its address
  bool remote_write = true;                // false: no peer may write to it
  // For peers of queue pairs with messages.
  bool remote_read = false;
  bool remote_atomic = false;
};

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

// datagram_queue_pair.h: unreliable datagrams.
class DatagramQueuePair;
class DatagramSink;
struct DatagramOptions {
  std::size_t send_queue = 64;         // how many may wait for a port; there is memory for so many
  std::optional<std::size_t> shard{};  // which one serves it; otherwise they take turns
};

// A host's access to the network. Queue pairs and memory regions must be gone before it is. It
// belongs to the process that opened it: a child made by fork() that calls it, or what was made
// with it, is ended with a message; destructors do nothing there. It may open a host of its own.
class Host {
 public:
  // `watch` is called with events of paths and queue pairs, from the thread that found out and
  // while the shard waits for it: it is quick and does not call the host.
  using EventSink = std::function<void(const core::Event&)>;
  // In the same way called when a port goes up or down.
  using PortSink = std::function<void(Plane, bool up)>;
  static Result<std::unique_ptr<Host>, Error> open(Config config, EventSink watch = {},
                                                   PortSink on_port = {});
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] const profile::PathPlan& paths() const { return paths_; }
  [[nodiscard]] std::size_t shards() const { return shards_.size(); }
  // What the operating system could not do as asked, or is not set up for, in words for people.
  [[nodiscard]] std::vector<std::string> notices() const;

  [[nodiscard]] std::unique_ptr<CompletionQueue> create_completion_queue();
  Result<std::unique_ptr<MemoryRegion>, Error> register_memory(std::span<std::byte> bytes,
                                                               const MemoryOptions& options = {});
  [[nodiscard]] ProtectionDomain create_protection_domain();

  // Paths and congestion control other than the configured ones. They stay as long as the host.
  core::EvProfileId add_ev_profile(const std::shared_ptr<const core::EvProfile>& profile);
  core::CcProfileId add_cc_profile(const core::CongestionSettings& settings);
  // A controller forbids an EV of such a profile, or allows it again.
  void set_ev_denied(core::EvProfileId profile, core::EvIndex ev, bool denied);
  // A port is administratively up or down.
  void set_port_enabled(Plane plane, bool enabled);
  // Whether it is, and its link, too.
  [[nodiscard]] bool port_is_up(Plane plane) const { return shards_.front()->port_is_up(plane); }
  Result<std::unique_ptr<QueuePair>, Error> create_queue_pair(const QueuePairOptions& options);
  [[nodiscard]] bool is_of_this_process() const { return shards_.front()->is_of_this_process(); }

  // message_queue_pair.h: SEND, READ and atomic operations (docs/protocol/messages.md).
  Result<std::unique_ptr<MessageQueuePair>, Error> create_message_queue_pair(
      const MessageQueuePairOptions& options);
  // Its queue pairs have the same shard.
  Result<std::unique_ptr<SharedReceiveQueue>, Error> create_shared_receive_queue(
      const messages::QueueOptions& options, MessageSink& sink);

  // A thread that polls makes progress itself, where no other one does. Where there has been none
  // to be made for a few round trips, whoever shares its processor, such as the peer, goes first.
  void help();

  // A request of a controller by a path of its own choice; the answer is an event (see open()).
  bool send_request(const core::DirectRequest& request);

  // Beyond MRC: docs/protocol/datagrams.md. The sink must outlive the queue pair.
  Result<std::unique_ptr<DatagramQueuePair>, Error> create_datagram_queue_pair(
      DatagramSink& sink, const DatagramOptions& options = {});

  // All shards together.
  [[nodiscard]] core::Counters counters() const;
  [[nodiscard]] std::uint64_t count_of(datapath::Count count) const;
  // The same and more, as monitoring wants it: added to what is there. Gauges need a look at every
  // path of every peer.
  void add_counters(HostValues& values) const;
  void add_gauges(HostValues& values) const;

 private:
  friend class MemoryRegion;
  friend class QueuePair;
  friend class MessageQueuePair;

  Host(Config config, profile::PathPlan paths, EventSink watch, PortSink on_port);
  [[nodiscard]] Result<void, Error> open_shards();
  void start_publishing();
  template <class Change>
  auto change_all(Change change);
  [[nodiscard]] Result<std::unique_ptr<datapath::Datapath>, Error> open_datapath(
      std::size_t shard) const;
  [[nodiscard]] std::vector<std::string> small_ports() const;
  bool help_shards();
  void on_event(const core::Event& event);
  void deregister(RKey key);
  // What a queue pair says in RTR: the caller's, and what the way to the peer adds to it.
  [[nodiscard]] core::ReadyToRecvAttributes attributes_to(
      const Destination& peer, const ReceiveAttributes& attributes) const;
  [[nodiscard]] static core::InitAttributes init_attributes(ProtectionDomain domain);
  // Why a queue pair failed, and what is known of it no longer.
  [[nodiscard]] std::optional<std::string> failure_text(Qpn qpn, const Destination& peer) const;
  void forget(Qpn qpn);
  [[nodiscard]] std::string describe(const core::Failure& failed, const Destination& peer) const;

  Config config_;
  profile::PathPlan paths_;
  EventSink watch_;
  PortSink on_port_;
  std::vector<std::unique_ptr<Shard>> shards_;
  ProtectionDomain domain_{};  // the same number in all shards
  std::mutex shards_mutex_;    // so that keys, domains and profiles are the same in all shards
  std::atomic<std::size_t> next_shard_ = 0;
  PollBackoff backoff_;
  // What queue pairs have reported, by their number.
  mutable std::mutex events_mutex_;
  std::unordered_map<std::uint32_t, core::Failure> failures_;
  std::unordered_map<std::uint32_t, std::vector<core::ProbeAnswer>> probe_answers_;
  std::unique_ptr<Publisher> publisher_;  // the last: it looks at all of this
};

}  // namespace openmrc::host
