// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/engine/engine.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>

#include "openmrc/base/check.h"

namespace openmrc::sim {

// Where the threads meet, twice in a window. Windows are short, so a thread looks for a while
// before it gives its processor away.
class Engine::Barrier {
 public:
  explicit Barrier(std::size_t threads) : threads_(threads) {}

  void meet() {
    const std::uint32_t round = round_.load(std::memory_order_acquire);
    if (waiting_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      waiting_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    for (int looks = 0; round_.load(std::memory_order_acquire) == round; ++looks) {
      if (looks > kLooks) std::this_thread::yield();
    }
  }

 private:
  static constexpr int kLooks = 4000;
  std::size_t threads_;
  std::atomic<std::size_t> waiting_ = 0;
  std::atomic<std::uint32_t> round_ = 0;
};

Engine::Engine(const Network& network, const HostMaker& maker, const RunOptions& options)
    : network_(network),
      options_(options),
      threads_(std::max<std::size_t>(options.threads, 1)),
      ranks_(options.exchange == nullptr ? 1 : options.exchange->ranks()),
      rank_(options.exchange == nullptr ? 0 : options.exchange->rank()),
      host_racks_(network.racks()),
      switches_(network.nodes() - network.racks()),
      shares_(threads_),
      barrier_(std::make_unique<Barrier>(threads_)),
      outgoing_(ranks_) {
  // Switches with uplinks have one more for packets whose uplink they choose.
  const std::size_t ports =
      std::max({network.t0_port_up(kAnyPath) + 1, network.t1_port_up(kAnyPath) + 1,
                network.fabric().shape().pods});
  for (Share& share : shares_) share.arrivals = std::make_unique<Arrivals>(ports);
  for (std::size_t i = 0; i < threads_; ++i) {
    workers_.push_back(std::make_unique<Worker>(network, i, threads_));
    worker_list_.push_back(workers_.back().get());
  }
  for (NodeIndex node = 0; node < network.nodes(); ++node) {
    if (owner(node) / threads_ != rank_) continue;
    shares_[owner(node) % threads_].nodes.push_back(node);
    if (network.is_host_rack(node)) {
      host_racks_[node] = std::make_unique<HostRack>(maker.make_rack(node));
    } else {
      switches_[node - network.racks()] = std::make_unique<SwitchNode>(network, node);
    }
  }
  window_.end = network.window();
}

Engine::~Engine() = default;

// Which thread of all processes has a node: nodes of each kind are dealt out in turn.
std::size_t Engine::owner(NodeIndex node) const {
  const std::size_t all = ranks_ * threads_;
  OPENMRC_DCHECK(all > 0, "somebody runs it");
  return (network_.is_host_rack(node) ? node : node - network_.racks()) % all;
}

void Engine::record_series(const SeriesSettings& settings, std::size_t samples_max) {
  // At the border of two windows the state of all nodes is that of one moment.
  const std::int64_t window = network_.window().raw();
  const Picoseconds every((settings.every.raw() + window - 1) / window * window);
  for (Share& share : shares_) {
    share.series = std::make_unique<SeriesRecorder>(settings, every, samples_max);
  }
  if (!settings.counts_links()) return;
  for (const auto& rack : host_racks_) {
    if (rack != nullptr) rack->count_links();
  }
  for (const auto& device : switches_) {
    if (device != nullptr) device->count_links();
  }
}

void Engine::run() {
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads_; ++i) {
    others.emplace_back([this, i] { run_share(i); });
  }
  run_share(0);
  others.clear();
  take_last_samples();
  count_in_flight();
}

void Engine::run_share(std::size_t thread) {
  for (;;) {
    run_nodes(thread);
    barrier_->meet();
    take_back_chunks(thread);
    if (thread == 0) choose_next_window();
    barrier_->meet();
    if (stop_) return;
  }
}

void Engine::run_nodes(std::size_t thread) {
  Share& share = shares_[thread];
  Worker& worker = *workers_[thread];
  share.wake_at = kNoTime;
  share.backlog = false;
  share.done = 0;
  if (share.series != nullptr) [[unlikely]]
    take_due_samples(thread, window_.begin);
  for (const NodeIndex node : share.nodes) run_node(node, share, worker);
  worker.posted(window_.index) = 0;
}

void Engine::run_node(NodeIndex node, Share& share, Worker& worker) {
  share.arrivals->gather(worker_list_, node, window_);
  if (network_.is_host_rack(node)) {
    HostRack& rack = *host_racks_[node];
    rack.run(window_, *share.arrivals, worker);
    share.wake_at = std::min(share.wake_at, rack.wake_at());
    share.done += rack.done();
  } else {
    SwitchNode& device = *switches_[node - network_.racks()];
    device.run(window_, *share.arrivals, worker);
    share.backlog = share.backlog || device.has_backlog();
  }
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i]->box(node, window_.index).clear(worker.returned(i).chunks);
  }
}

// All windows before `until` are over.
void Engine::take_due_samples(std::size_t thread, Picoseconds until) {
  const SeriesRecorder& series = *shares_[thread].series;
  while (series.next() <= until) take_sample(thread, series.next());
}

void Engine::take_sample(std::size_t thread, Picoseconds when) {
  Share& share = shares_[thread];
  share.series->begin(when, workers_[thread]->stats.sample());
  for (const NodeIndex node : share.nodes) {
    if (network_.is_host_rack(node)) {
      host_racks_[node]->sample(*share.series);
    } else {
      switches_[node - network_.racks()]->sample_links(*share.series);
    }
  }
  share.series->end();
}

// The run ends between two samples.
void Engine::take_last_samples() {
  for (std::size_t thread = 0; thread < threads_; ++thread) {
    if (shares_[thread].series == nullptr) return;
    take_due_samples(thread, window_.end);
    if (shares_[thread].series->last() < window_.end) take_sample(thread, window_.end);
  }
}

void Engine::take_back_chunks(std::size_t thread) {
  for (const auto& reader : workers_) workers_[thread]->take_back(reader->returned(thread));
}

// What goes to other processes leaves the mailboxes of this one; what comes goes into those of its
// first worker.
void Engine::trade_with_other_processes() {
  for (auto& list : outgoing_) list.clear();
  incoming_.clear();
  Returned returned;
  for (const auto& worker : workers_) {
    for (NodeIndex node = 0; node < network_.nodes(); ++node) {
      const std::size_t rank = owner(node) / threads_;
      if (rank == rank_) continue;
      for (std::uint32_t ahead = 1; ahead <= network_.windows_ahead_max(); ++ahead) {
        const std::int64_t index = window_.index + ahead;
        Mailbox& box = worker->box(node, index);
        box.for_each([&](const Packet& packet) {
          outgoing_[rank].push_back(to_remote(node, network_.window() * index, packet));
        });
        worker->posted(index) -= box.size();
        box.clear(returned.chunks);
        worker->take_back(returned);
      }
    }
  }
  options_.exchange->trade(outgoing_, incoming_);
  for (const RemotePacket& remote : incoming_) {
    post_remote(remote);
  }
}

RemotePacket Engine::to_remote(NodeIndex node, Picoseconds window_begin, const Packet& packet) {
  RemotePacket remote{.node = node, .at = window_begin + packet.key.time(), .packet = packet};
  remote.packet.content = nullptr;
  if (packet.content == nullptr) return remote;
  remote.content = *packet.content;
  workers_[packet.content->owner]->release(*packet.content);
  return remote;
}

void Engine::post_remote(const RemotePacket& remote) {
  Worker& worker = *workers_[0];
  Packet packet = remote.packet;
  if (!is_pause(packet)) {
    Content& content = worker.take_content();
    const std::uint16_t owner = content.owner;
    content = remote.content;
    content.owner = owner;
    packet.content = &content;
  }
  const NextHop next{
      .node = remote.node, .egress = packet.key.egress(), .ingress = packet.key.ingress()};
  worker.post(packet, next, remote.at, window_);
}

// Only the first thread runs this, while the others wait.
void Engine::choose_next_window() {
  ++windows_;
  if (options_.exchange != nullptr) trade_with_other_processes();
  std::uint64_t done = 0;
  Progress progress{.time = window_.end, .hosts = network_.fabric().hosts()};
  for (std::size_t i = 0; i < threads_; ++i) {
    done += shares_[i].done;
    progress.hops += workers_[i]->stats.totals.switch_hops + workers_[i]->stats.totals.nic_hops;
  }
  std::int64_t next = next_window();
  if (options_.exchange != nullptr) {
    next = options_.exchange->least(next);
    done = options_.exchange->sum(done);
  }
  progress.hosts_done = static_cast<std::uint32_t>(done);
  all_done_ = done == network_.fabric().hosts();
  const bool nothing_left = next == std::numeric_limits<std::int64_t>::max();
  const Picoseconds limit = network_.scenario().time_limit;
  stop_ = all_done_ || nothing_left || (limit > Picoseconds{} && network_.window() * next >= limit);
  if (options_.on_progress != nullptr &&
      !options_.on_progress(options_.progress_context, progress)) {
    stop_ = true;
  }
  if (stop_) return;
  window_ = {
      .index = next, .begin = network_.window() * next, .end = network_.window() * (next + 1)};
}

// The next window in which anything happens in this process.
std::int64_t Engine::next_window() const {
  Picoseconds wake = kNoTime;
  for (std::size_t i = 0; i < threads_; ++i) {
    if (shares_[i].backlog || workers_[i]->has_posted()) return window_.index + 1;
    wake = std::min(wake, shares_[i].wake_at);
  }
  if (wake == kNoTime) return std::numeric_limits<std::int64_t>::max();
  return std::max(window_.index + 1, wake.raw() / network_.window().raw());
}

void Engine::count_in_flight() {
  for (const auto& device : switches_) {
    if (device != nullptr) device->count_in_flight(*workers_[0]);
  }
  for (const auto& rack : host_racks_) {
    if (rack != nullptr) rack->finish(*workers_[0]);
  }
  for (const auto& worker : workers_) {
    for (NodeIndex node = 0; node < network_.nodes(); ++node) {
      for (std::uint32_t ahead = 1; ahead <= network_.windows_ahead_max(); ++ahead) {
        worker->box(node, window_.index + ahead).for_each([&](const Packet& packet) {
          if (!is_pause(packet)) worker->stats.count_lost(*packet.content, Loss::kInFlight);
        });
      }
    }
  }
}

Picoseconds Engine::done_at() const {
  Picoseconds last{};
  for (const auto& rack : host_racks_) {
    if (rack != nullptr) last = std::max(last, rack->done_at());
  }
  return last;
}

Stats Engine::take_stats() {
  Stats all = std::move(workers_[0]->stats);
  for (std::size_t i = 1; i < workers_.size(); ++i) all.merge(workers_[i]->stats);
  return all;
}

Series Engine::take_series() {
  Series all = shares_[0].series->take();
  for (std::size_t i = 1; i < threads_; ++i) all.merge(shares_[i].series->take());
  return all;
}

RunCost Engine::cost() const {
  RunCost cost{.windows = windows_};
  for (const auto& worker : workers_) cost.packet_bytes += worker->bytes();
  return cost;
}

}  // namespace openmrc::sim
