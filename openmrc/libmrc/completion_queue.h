// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mrc.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/libmrc/context.h"

// Where several completion queues report that they have something.
struct mrc_comp_channel {
  explicit mrc_comp_channel(mrc_context& of) : context(of) {}
  // False: the kernel gives no descriptor; errno says why.
  [[nodiscard]] bool open();
  void push(mrc_cq& cq);
  // Waits, unless the descriptor was set not to; null: errno says why.
  mrc_cq* next();
  // What it has not reported yet of a queue that goes away.
  void forget(const mrc_cq& cq);
  [[nodiscard]] int descriptor() const { return event_.get(); }

  mrc_context& context;
  openmrc::libmrc::Users users;

 private:
  openmrc::datapath::FileDescriptor event_;  // counts what is in the list
  std::mutex mutex_;
  std::deque<mrc_cq*> reported_;
};

// Where completions are fetched. The control interface has a kind of its own.
struct mrc_cq {
  mrc_cq(mrc_context& of, void* cookie, mrc_comp_channel* to);
  virtual ~mrc_cq();
  mrc_cq(const mrc_cq&) = delete;
  mrc_cq& operator=(const mrc_cq&) = delete;

  int poll(std::span<ibv_wc> into);
  // The next completion is reported on the channel.
  void arm();
  // A completion that the network has no part in.
  void push(const ibv_wc& completion);
  // There is something, which is reported if that was requested.
  void report();
  // Takes what has come, so that slots of work requests become free.
  void drain();
  // A queue pair goes away, and its completions with it.
  void forget(std::uint32_t qpn);

  mrc_context& context;
  void* const cq_context;
  mrc_comp_channel* const channel;
  openmrc::libmrc::Users users;  // queue pairs
  openmrc::libmrc::FetchedEvents events;
  const std::unique_ptr<openmrc::host::CompletionQueue> queue;

 private:
  template <class Sink>
  std::size_t take(std::size_t at_most, Sink sink);
  void take_all();
  void make_room();

  std::atomic<bool> armed_ = false;
  std::mutex mutex_;
  std::array<openmrc::core::Completion, 16> taken_{};
  std::vector<ibv_wc> ready_;
};
