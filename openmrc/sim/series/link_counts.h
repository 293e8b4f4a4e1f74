// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "openmrc/sim/series/series.h"

namespace openmrc::sim {

// Counts what leaves the ports of a node, if somebody wants to know.
class LinkCounts {
 public:
  void start(std::uint32_t ports) { ports_ = std::make_unique<LinkSample[]>(ports); }

  void sent(std::uint32_t port, std::uint32_t bytes, bool marked) {
    if (ports_ == nullptr) [[likely]]
      return;
    ports_[port].sent_bytes += bytes;
    ports_[port].marked += marked ? 1 : 0;
  }
  void trimmed(std::uint32_t port) {
    if (ports_ != nullptr) ++ports_[port].trimmed;
  }
  void lost(std::uint32_t port) {
    if (ports_ != nullptr) ++ports_[port].lost;
  }
  void queued(std::uint32_t port, std::uint64_t bytes) {
    if (ports_ == nullptr) [[likely]]
      return;
    ports_[port].queue_max_bytes = std::max(ports_[port].queue_max_bytes, bytes);
  }

  [[nodiscard]] bool on() const { return ports_ != nullptr; }
  // `queued` is what waits now: the deepest since the last call begins there.
  LinkSample take(std::uint32_t port, std::uint64_t queued) {
    LinkSample sample = ports_[port];
    ports_[port].queue_max_bytes = queued;
    return sample;
  }

 private:
  std::unique_ptr<LinkSample[]> ports_;  // null: nothing is counted
};

}  // namespace openmrc::sim
