// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "openmrc/sim/engine/exchange.h"
#include "openmrc/sim/engine/host_rack.h"
#include "openmrc/sim/engine/run_options.h"
#include "openmrc/sim/engine/switch_node.h"
#include "openmrc/sim/engine/worker.h"
#include "openmrc/sim/network/network.h"
#include "openmrc/sim/series/series_recorder.h"

namespace openmrc::sim {

// Makes the hosts of one rack.
class HostMaker {
 public:
  virtual ~HostMaker() = default;
  [[nodiscard]] virtual std::vector<std::unique_ptr<Host>> make_rack(std::uint32_t rack) const = 0;
};

// Runs all nodes, window by window. A node works on what arrives in a window alone, and what it
// sends arrives in a later one; so nodes run in any order, on any thread, in any process, and the
// state of a node is fetched from memory once for all that happens to it in a window.
class Engine {
 public:
  Engine(const Network& network, const HostMaker& maker, const RunOptions& options);
  ~Engine();

  // Before `run`. The settings must stay until its end.
  void record_series(const SeriesSettings& settings, std::size_t samples_max);
  void run();

  // Afterwards, of this process.
  [[nodiscard]] Stats take_stats();
  [[nodiscard]] Series take_series();
  [[nodiscard]] bool all_done() const { return all_done_; }
  [[nodiscard]] Picoseconds done_at() const;
  [[nodiscard]] Picoseconds stopped_at() const { return window_.end; }
  [[nodiscard]] RunCost cost() const;

 private:
  // One thread's part, besides what is in Worker.
  struct Share {
    std::vector<NodeIndex> nodes;
    std::unique_ptr<Arrivals> arrivals;
    std::unique_ptr<SeriesRecorder> series;  // null: nobody asked for one
    Picoseconds wake_at = kNoTime;           // of its hosts
    bool backlog = false;                    // in its switches
    std::uint32_t done = 0;                  // of its hosts
  };
  class Barrier;

  [[nodiscard]] std::size_t owner(NodeIndex node) const;
  void run_share(std::size_t thread);
  void run_nodes(std::size_t thread);
  void run_node(NodeIndex node, Share& share, Worker& worker);
  void take_due_samples(std::size_t thread, Picoseconds until);
  void take_sample(std::size_t thread, Picoseconds when);
  void take_last_samples();
  void take_back_chunks(std::size_t thread);
  void trade_with_other_processes();
  [[nodiscard]] RemotePacket to_remote(NodeIndex node, Picoseconds window_begin,
                                       const Packet& packet);
  void post_remote(const RemotePacket& remote);
  void choose_next_window();
  [[nodiscard]] std::int64_t next_window() const;
  void count_in_flight();

  const Network& network_;
  const RunOptions& options_;
  std::size_t threads_;
  std::size_t ranks_;
  std::size_t rank_;
  std::vector<std::unique_ptr<HostRack>> host_racks_;  // by rack; null: of another process
  std::vector<std::unique_ptr<SwitchNode>> switches_;  // by node, from the first switch on
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> worker_list_;
  std::vector<Share> shares_;
  std::unique_ptr<Barrier> barrier_;
  std::vector<std::vector<RemotePacket>> outgoing_;
  std::vector<RemotePacket> incoming_;
  Window window_{};
  bool stop_ = false;
  bool all_done_ = false;
  std::uint64_t windows_ = 0;
};

}  // namespace openmrc::sim
