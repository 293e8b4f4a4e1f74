// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/engine/host_rack.h"

#include <algorithm>

namespace openmrc::sim {

HostRack::HostRack(std::vector<std::unique_ptr<Host>> hosts) : hosts_(std::move(hosts)) {
  wakes_.reserve(hosts_.size());
  for (const auto& host : hosts_) {
    wakes_.push_back(host->wake_at());
    if (host->done()) ++done_;
  }
  wake_at_ = *std::min_element(wakes_.begin(), wakes_.end());
}

void HostRack::run(const Window& window, const Arrivals& arrivals, Worker& worker) {
  if (wake_at_ < window.end) {
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      const bool has_arrivals = !arrivals.empty() && !arrivals.at(i).empty();
      if (wakes_[i] < window.end && !has_arrivals) run_host(i, window, {}, worker);
    }
  }
  arrivals.for_each_port([&](std::size_t i) { run_host(i, window, arrivals.at(i), worker); });
  wake_at_ = *std::min_element(wakes_.begin(), wakes_.end());
}

void HostRack::run_host(std::size_t index, const Window& window, std::span<const Packet> arrivals,
                        Worker& worker) {
  Host& host = *hosts_[index];
  const bool was_done = host.done();
  host.run(window, arrivals, worker);
  if (host.done() && !was_done) ++done_;
  wakes_[index] = host.wake_at();
}

Picoseconds HostRack::done_at() const {
  Picoseconds last{};
  for (const auto& host : hosts_) last = std::max(last, host->done_at());
  return last;
}

void HostRack::finish(Worker& worker) {
  for (const auto& host : hosts_) host->finish(worker);
}

void HostRack::count_links() {
  for (const auto& host : hosts_) host->count_links();
}

void HostRack::sample(SeriesRecorder& series) {
  for (const auto& host : hosts_) host->sample(series);
}

}  // namespace openmrc::sim
