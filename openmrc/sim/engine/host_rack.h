// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "openmrc/sim/engine/host.h"
#include "openmrc/sim/engine/worker.h"

namespace openmrc::sim {

// The hosts of one rack, as a node.
class HostRack {
 public:
  explicit HostRack(std::vector<std::unique_ptr<Host>> hosts);

  void run(const Window& window, const Arrivals& arrivals, Worker& worker);
  // When the first of its hosts must be run.
  [[nodiscard]] Picoseconds wake_at() const { return wake_at_; }
  [[nodiscard]] std::uint32_t done() const { return done_; }
  [[nodiscard]] Picoseconds done_at() const;
  void finish(Worker& worker);
  void count_links();
  void sample(SeriesRecorder& series);

 private:
  void run_host(std::size_t index, const Window& window, std::span<const Packet> arrivals,
                Worker& worker);

  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<Picoseconds> wakes_;  // by host, so that looking for the next touches no host
  Picoseconds wake_at_{};
  std::uint32_t done_ = 0;
};

}  // namespace openmrc::sim
