// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "openmrc/sim/engine/mailbox.h"
#include "openmrc/sim/engine/stats.h"
#include "openmrc/sim/network/network.h"
#include "openmrc/sim/network/packet.h"

namespace openmrc::sim {

// One window of time.
struct Window {
  std::int64_t index = 0;
  Picoseconds begin{};
  Picoseconds end{};
};

// What one thread has for itself: what its nodes have sent, by receiver and window, and its counts.
class Worker {
 public:
  Worker(const Network& network, std::size_t workers);

  // A place for a packet that arrives at `node` at time `at`, in a later window than `now`. The
  // caller fills it in.
  Packet& post(NodeIndex node, Picoseconds at, const Window& now) {
    OPENMRC_DCHECK(at >= now.end, "it arrives in a window to come");
    std::uint64_t ahead = 1;  // counted, because it is one or two, and dividing takes longer
    for (Picoseconds left = at - now.end; left >= window_; left -= window_) ++ahead;
    OPENMRC_DCHECK(ahead <= slot_mask_, "not too far ahead");
    const std::size_t slot = (static_cast<std::uint64_t>(now.index) + ahead) & slot_mask_;
    ++posted_[slot];
    return boxes_[slot * nodes_ + node].append(pool_);
  }
  [[nodiscard]] Mailbox& box(NodeIndex node, std::int64_t window) {
    return boxes_[slot_of(window) * nodes_ + node];
  }

  // How many packets it has sent that arrive in a window; to be cleared when they have.
  [[nodiscard]] std::uint64_t& posted(std::int64_t window) { return posted_[slot_of(window)]; }
  // Whether it has sent anything that arrives after `window`.
  [[nodiscard]] bool has_posted() const;

  // Chunks of worker `owner` that this one has read.
  [[nodiscard]] std::vector<Chunk*>& returned(std::size_t owner) { return returned_[owner]; }
  // Takes back what others have read of this one.
  void take_back(std::vector<Chunk*>& returned) {
    pool_.give_back(returned);
    returned.clear();
  }

  Stats stats;
  [[nodiscard]] std::size_t bytes() const { return pool_.bytes(); }

 private:
  [[nodiscard]] std::size_t slot_of(std::int64_t window) const {
    return static_cast<std::uint64_t>(window) & slot_mask_;
  }

  Picoseconds window_;
  std::size_t nodes_;
  std::size_t slot_mask_;
  ChunkPool pool_;
  std::vector<Mailbox> boxes_;  // by slot, then node
  std::vector<std::uint64_t> posted_;
  std::vector<std::vector<Chunk*>> returned_;
};

// The packets that arrive at a node in one window, port by port (or host by host), each in order of
// time. Packets that come at the same time by different links are in the order of the links: the
// order is the same whoever sent them first, so a run has one result.
class Arrivals {
 public:
  struct Entry {
    std::uint64_t key;  // egress, time in the window, ingress
    const Packet* packet;
  };

  // For nodes with up to `ports` ports.
  explicit Arrivals(std::size_t ports) : begins_(ports + 1) {}

  void gather(std::span<Worker* const> workers, NodeIndex node, const Window& window);
  [[nodiscard]] bool empty() const { return sorted_.empty(); }
  [[nodiscard]] std::span<const Entry> at(std::size_t port) const {
    return std::span(sorted_).subspan(begins_[port], begins_[port + 1] - begins_[port]);
  }
  // Calls `visit(port)` for each port that has arrivals.
  template <class Visit>
  void for_each_port(Visit&& visit) const {
    for (std::size_t i = 0; i < sorted_.size();) {
      const auto port = static_cast<std::size_t>(sorted_[i].key >> kPortShift);
      visit(port);
      i = begins_[port + 1];
    }
  }

 private:
  static constexpr unsigned kIngressBits = 11;
  static constexpr unsigned kPortShift = 64 - 11;

  void sort();

  std::vector<Entry> found_;
  std::vector<Entry> sorted_;
  std::vector<std::uint32_t> begins_;  // by port
};

}  // namespace openmrc::sim
