// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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
#include "openmrc/base/result.h"
#include "openmrc/core/context/completion.h"
#include "openmrc/core/context/counters.h"
#include "openmrc/datapath/counters.h"
#include "openmrc/host/completion_queue.h"
#include "openmrc/host/config.h"
#include "openmrc/host/error.h"
#include "openmrc/host/memory_region.h"
#include "openmrc/host/poll_backoff.h"
#include "openmrc/host/queue_pair.h"
#include "openmrc/host/shard.h"
#include "openmrc/profile/path_plan.h"

// The runtime: what an application of MRC uses. examples/cpp/write.cc shows all of it.
namespace openmrc::host {

class Host;
class HostValues;
class MessageQueuePair;
class Publisher;
class SharedReceiveQueue;
struct MessageQueuePairOptions;

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
