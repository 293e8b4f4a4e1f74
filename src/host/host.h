// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/base/result.h"
#include "openmrc/core/completion.h"
#include "openmrc/core/counters.h"
#include "openmrc/core/work.h"
#include "openmrc/datapath/counters.h"
#include "openmrc/host/completion_queue.h"
#include "openmrc/host/config.h"
#include "openmrc/host/error.h"
#include "openmrc/host/exchange.h"
#include "openmrc/host/path_profiles.h"
#include "openmrc/host/shard.h"

// The runtime: what an application of MRC uses. examples/cpp/write.cc shows all of it.
namespace openmrc::host {

using core::PostError;
using core::WorkId;
using core::WorkStatus;

class Host;

// Memory that peers may write to, from registration until this is destroyed. Its bytes must stay
// for as long.
class MemoryRegion {
 public:
  ~MemoryRegion();
  MemoryRegion(const MemoryRegion&) = delete;
  MemoryRegion& operator=(const MemoryRegion&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  // What a peer needs to know to write to it.
  [[nodiscard]] MemoryCard card() const;

 private:
  friend class Host;
  MemoryRegion(Host& host, std::span<std::byte> bytes, RKey key)
      : host_(host), bytes_(bytes), key_(key) {}

  Host& host_;
  std::span<std::byte> bytes_;
  RKey key_;
};

struct QueuePairOptions {
  CompletionQueue* writes = nullptr;    // where completions of writes go
  CompletionQueue* receives = nullptr;  // null: to the same
  std::optional<std::size_t> shard{};   // which one serves it; otherwise they take turns
};

struct Write {
  WorkId id = 0;
  std::span<const std::byte> data{};  // must stay until the completion
  std::uint64_t remote_address = 0;
  RKey rkey{};
  std::optional<std::uint32_t> immediate{};  // the peer is told, if it has posted a receive
};

// How many paths are in which state, in one plane.
struct PlanePaths {
  std::array<unsigned, core::kEvStateCount> evs{};
};

// One end of a connection. Any thread may use it.
class QueuePair {
 public:
  ~QueuePair();
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  [[nodiscard]] Qpn number() const { return qpn_; }
  // What the peer needs to know to connect to it.
  [[nodiscard]] PeerCard card() const;
  // Connects to the queue pair that the card describes, which is to be connected to this one.
  [[nodiscard]] std::optional<Error> connect(const PeerCard& peer);

  [[nodiscard]] std::optional<PostError> post_write(const Write& write);
  // As many as there is room for, with one turn of the lock; returns how many were posted.
  [[nodiscard]] std::size_t post_writes(std::span<const Write> writes);
  [[nodiscard]] std::optional<PostError> post_receive(WorkId id);

  [[nodiscard]] core::QueuePairState state() const;
  // Why it is in ERROR, for people: who, which path, since when, what to do.
  [[nodiscard]] std::optional<std::string> failure_text() const;
  // By plane; empty before it is connected.
  [[nodiscard]] std::vector<PlanePaths> paths() const;
  [[nodiscard]] const std::string& peer_name() const { return peer_name_; }
  // Its place in the fabric, if both have one.
  [[nodiscard]] std::optional<fabric::HostIndex> peer_place() const { return peer_place_; }

  // Probes one path, by its place in the profile; what is answered is fetched with the tag.
  bool probe_path(core::EvIndex ev, std::uint32_t tag);
  [[nodiscard]] std::vector<core::ProbeAnswer> take_probe_answers();

 private:
  friend class Host;
  QueuePair(Host& host, Shard& shard, Qpn qpn, Psn psn)
      : host_(host), shard_(shard), qpn_(qpn), psn_(psn) {}

  Host& host_;
  Shard& shard_;
  Qpn qpn_;
  Psn psn_;
  std::string peer_name_;
  std::optional<fabric::HostIndex> peer_place_;
};

// A host's access to the network. Queue pairs and memory regions must be gone before it is.
class Host {
 public:
  static Result<std::unique_ptr<Host>, Error> open(Config config);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] const PathProfiles& paths() const { return paths_; }
  [[nodiscard]] std::size_t shards() const { return shards_.size(); }
  // What the operating system could not do as asked, in words for people.
  [[nodiscard]] std::vector<std::string> notices() const;

  [[nodiscard]] std::unique_ptr<CompletionQueue> create_completion_queue();
  Result<std::unique_ptr<MemoryRegion>, Error> register_memory(std::span<std::byte> bytes);
  Result<std::unique_ptr<QueuePair>, Error> create_queue_pair(const QueuePairOptions& options);

  // All shards together.
  [[nodiscard]] core::Counters counters() const;
  [[nodiscard]] std::uint64_t count_of(datapath::Count count) const;

 private:
  friend class MemoryRegion;
  friend class QueuePair;

  Host(Config config, PathProfiles paths) : config_(std::move(config)), paths_(std::move(paths)) {}
  [[nodiscard]] std::optional<Error> open_shards();
  [[nodiscard]] Result<std::unique_ptr<datapath::Datapath>, Error> open_datapath(
      std::size_t shard) const;
  void on_event(const core::Event& event);
  void deregister(RKey key);
  [[nodiscard]] std::string describe(const core::Failure& failed, const QueuePair& qp) const;

  Config config_;
  PathProfiles paths_;
  std::vector<std::unique_ptr<Shard>> shards_;
  core::ProtectionDomain domain_{};  // the same number in all shards
  std::mutex memory_mutex_;          // so that a key is the same in all shards
  std::atomic<std::size_t> next_shard_ = 0;
  // What queue pairs have reported, by their number.
  mutable std::mutex events_mutex_;
  std::unordered_map<std::uint32_t, core::Failure> failures_;
  std::unordered_map<std::uint32_t, std::vector<core::ProbeAnswer>> probe_answers_;
};

}  // namespace openmrc::host
