// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "openmrc/core/containers/growing_ring.h"
#include "openmrc/sim/engine/application.h"

namespace openmrc::sim {

// PCIe between a program and the transport in its NIC: what one says, the other hears so much
// later. Without a latency both are in one place, and nothing is kept here.
class HostBus {
 public:
  HostBus(Application application, Picoseconds latency)
      : application_(std::move(application)), latency_(latency) {}

  // When on_time is to be called.
  [[nodiscard]] Picoseconds wake_at() const { return std::min(application_.wake_at(), next_); }
  void on_time(Picoseconds now, Worker& worker);
  void on_sent(Picoseconds now, std::uint32_t message, bool failed, Worker& worker);
  void on_received(Picoseconds now, std::uint32_t connection, std::uint32_t queue_pair,
                   MessageTag tag, Worker& worker);

  // What has come to the NIC; the transport removes what it has taken, from the first on.
  [[nodiscard]] std::vector<Application::Posting>& postings() {
    return latency_ == Picoseconds{} ? application_.postings() : at_nic_;
  }

  [[nodiscard]] bool done() const { return application_.done(); }
  [[nodiscard]] Picoseconds done_at() const { return application_.done_at(); }
  void finish(Worker& worker) { application_.finish(worker); }

 private:
  // On its way to the program: a part that was sent, or one that was received.
  struct Note {
    Picoseconds at{};
    std::uint32_t number = 0;  // message, or incoming connection
    std::uint32_t queue_pair = 0;
    MessageTag tag = 0;
    bool received = false;
    bool failed = false;
  };
  struct Posted {
    Picoseconds at{};
    Application::Posting posting{};
  };

  void tell(const Note& note, Worker& worker);
  void move_postings(Picoseconds now);

  Application application_;
  Picoseconds latency_;
  Picoseconds next_ = kNoTime;  // when something comes to an end of the bus
  core::GrowingRing<Note> notes_;
  core::GrowingRing<Posted> posted_;
  std::vector<Application::Posting> at_nic_;
};

}  // namespace openmrc::sim
