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

// Where a packet goes: the node, the port by which it will leave that (or the host of the rack),
// and the link by which it comes.
struct NextHop {
  NodeIndex node = 0;
  std::uint16_t egress = 0;
  std::uint16_t ingress = 0;
};

// What one worker has read of what another has sent: to be given back when all have met.
struct Returned {
  std::vector<Chunk*> chunks;
  std::vector<Content*> contents;
};

// What one thread has for itself: what its nodes have sent, by receiver and window, and its counts.
class Worker {
 public:
  // The `number`th of so many.
  Worker(const Network& network, std::size_t number, std::size_t workers);

  // The packet arrives at time `at`, in a later window than `now`.
  void post(Packet packet, const NextHop& next, Picoseconds at, const Window& now) {
    OPENMRC_DCHECK(at >= now.end, "it arrives in a window to come");
    std::uint64_t ahead = 1;  // counted, because it is one or two, and dividing takes longer
    Picoseconds time = at - now.end;
    for (; time >= window_; time -= window_) ++ahead;
    OPENMRC_DCHECK(ahead <= slot_mask_, "not too far ahead");
    packet.key = ArrivalKey(next.egress, time, next.ingress);
    const std::size_t slot = (static_cast<std::uint64_t>(now.index) + ahead) & slot_mask_;
    ++posted_[slot];
    boxes_[slot * nodes_ + next.node].append(chunks_) = packet;
  }
  [[nodiscard]] Mailbox& box(NodeIndex node, std::int64_t window) {
    return boxes_[slot_of(window) * nodes_ + node];
  }

  // How many packets it has sent that arrive in a window; to be cleared when they have.
  [[nodiscard]] std::uint64_t& posted(std::int64_t window) { return posted_[slot_of(window)]; }
  // Whether it has sent anything that arrives after `window`.
  [[nodiscard]] bool has_posted() const;

  // For a packet that a host sends; the caller fills in all but the owner.
  [[nodiscard]] Content& take_content() {
    Content* content = contents_.take();
    content->owner = number_;
    return *content;
  }
  // The packet has arrived, or is lost.
  void release(Content& content) {
    if (content.owner == number_) return contents_.give_back(&content);
    returned_[content.owner].contents.push_back(&content);
  }
  void lose(const Packet& packet, Loss why, Picoseconds when) {
    stats.lose(*packet.content, why, when);
    release(*packet.content);
  }

  // Of worker `owner`, what this one has read.
  [[nodiscard]] Returned& returned(std::size_t owner) { return returned_[owner]; }
  // Takes back what others have read of this one.
  void take_back(Returned& returned);

  Stats stats;
  [[nodiscard]] std::size_t bytes() const { return chunks_.bytes() + contents_.bytes(); }

 private:
  [[nodiscard]] std::size_t slot_of(std::int64_t window) const {
    return static_cast<std::uint64_t>(window) & slot_mask_;
  }

  std::uint16_t number_;
  Picoseconds window_;
  std::size_t nodes_;
  std::size_t slot_mask_;
  SlabPool<Chunk> chunks_;
  SlabPool<Content> contents_;
  std::vector<Mailbox> boxes_;  // by slot, then node
  std::vector<std::uint64_t> posted_;
  std::vector<Returned> returned_;
};

// The packets that arrive at a node in one window, port by port (or host by host), each in order of
// time. Packets that come at the same time by different links are in the order of the links: the
// order is the same whoever sent them first, so a run has one result.
class Arrivals {
 public:
  // For nodes with up to `ports` ports.
  explicit Arrivals(std::size_t ports) : begins_(ports + 1) {}

  void gather(std::span<Worker* const> workers, NodeIndex node, const Window& window);
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::span<const Packet> at(std::size_t port) const {
    return std::span(packets_).subspan(begins_[port], begins_[port + 1] - begins_[port]);
  }
  // Calls `visit(port)` for each port that has arrivals.
  template <class Visit>
  void for_each_port(Visit&& visit) const {
    for (std::size_t i = 0; i < count_;) {
      const std::size_t port = packets_[i].key.egress();
      visit(port);
      i = begins_[port + 1];
    }
  }

 private:
  void sort_ports();

  std::vector<Packet> packets_;  // as many as there ever were
  std::size_t count_ = 0;
  std::vector<std::uint32_t> begins_;  // by port
};

}  // namespace openmrc::sim
