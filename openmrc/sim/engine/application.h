// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "openmrc/base/picoseconds.h"
#include "openmrc/sim/engine/connections.h"
#include "openmrc/sim/engine/worker.h"
#include "openmrc/sim/workload/program.h"

namespace openmrc::sim {

// A host's program on top of any transport: cuts messages into one part for each queue pair, puts
// them together again, and keeps the record of what was sent.
class Application {
 public:
  // A part of a message, for the transport to send.
  struct Posting {
    std::uint32_t connection = 0;  // of the host's outgoing ones
    std::uint32_t queue_pair = 0;  // of that connection
    std::uint64_t bytes = 0;
    MessageTag tag = 0;
    std::uint32_t message = 0;  // to be given back when it has arrived
  };

  // `program` may be null.
  Application(std::unique_ptr<Program> program, fabric::HostIndex host,
              const Connections& connections, std::uint32_t queue_pairs);

  // When on_time is to be called.
  [[nodiscard]] Picoseconds wake_at() const { return wake_at_; }
  void on_time(Picoseconds now, Worker& worker);
  // A part has arrived at the other end, or never will.
  void on_sent(Picoseconds now, std::uint32_t message, bool failed, Worker& worker);
  // A part has arrived here, in the order of sending on its queue pair. `connection` is one of the
  // host's incoming ones.
  void on_received(Picoseconds now, std::uint32_t connection, std::uint32_t queue_pair,
                   MessageTag tag, Worker& worker);

  // What is to be sent; the transport removes what it has taken, from the first on.
  [[nodiscard]] std::vector<Posting>& postings() { return postings_; }

  [[nodiscard]] bool done() const { return done_at_ != kNoTime; }
  [[nodiscard]] Picoseconds done_at() const { return done_at_; }
  // Records what is not finished.
  void finish(Worker& worker);

 private:
  struct Message {
    std::uint32_t connection = 0;
    MessageTag tag = 0;
    std::uint64_t bytes = 0;
    Picoseconds start{};
    std::uint32_t parts_left = 0;  // 0: the place is free
    bool failed = false;
  };
  // Parts of messages from one sender. The queue pairs may run ahead of each other.
  struct Reassembly {
    std::vector<std::uint64_t> received;  // parts by queue pair
    std::vector<MessageTag> tags;         // of messages begun and not delivered, from the oldest
    std::uint64_t delivered = 0;
  };

  [[nodiscard]] std::uint32_t connection_to(fabric::HostIndex host) const;
  void do_requests(Picoseconds now, Worker& worker);
  void send(Picoseconds now, const Send& send, Worker& worker);
  void deliver(Picoseconds now, std::uint32_t connection, MessageTag tag, Worker& worker);
  void record(const Message& message, Picoseconds end, Worker& worker) const;

  std::unique_ptr<Program> program_;
  fabric::HostIndex host_;
  std::span<const Connections::End> outgoing_;
  std::span<const Connections::End> incoming_;
  std::uint32_t queue_pairs_;
  std::vector<std::pair<fabric::HostIndex, std::uint32_t>> by_host_;  // outgoing, sorted
  std::vector<Message> messages_;
  std::vector<std::uint32_t> free_messages_;
  std::vector<Reassembly> reassembly_;  // by incoming connection; none with one queue pair
  std::vector<Posting> postings_;
  Requests requests_;
  Picoseconds wake_at_ = kNoTime;
  Picoseconds done_at_ = kNoTime;
};

}  // namespace openmrc::sim
