// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/datapath/datapath.h"
#include "openmrc/datapath/error.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/datapath/frame.h"
#include "openmrc/datapath/open.h"
#include "openmrc/datapath/slot.h"
#include "openmrc/xdp/frame_socket.h"
#include "openmrc/xdp/interface.h"
#include "openmrc/xdp/next_hops.h"
#include "openmrc/xdp/patience.h"
#include "openmrc/xdp/program.h"

namespace openmrc::xdp {

// One interface with a socket for each of its queues, all of one shard: the kernel has no more than
// one socket for a queue, unless they share their memory.
class Port {
 public:
  // Null: another shard has it. `settings` outlive it.
  static Result<std::unique_ptr<Port>, datapath::Error> open(const datapath::Settings& settings,
                                                             const datapath::Port& port,
                                                             datapath::Slot slot,
                                                             Patience patience);

  // Whether the interface is still what it was when this was opened.
  [[nodiscard]] bool is_current() const;
  // Frames that the kernel had no room for, since the last call.
  [[nodiscard]] std::uint64_t take_drops();
  // Routes or neighbours have changed.
  void forget_next_hops() { next_hops_.forget(); }

  enum class Unsent : std::uint8_t {
    kNoRoom,   // all frames are under way
    kUnknown,  // the kernel is to send it: it knows, or finds out, where it goes
    kTooLong,
  };
  // It leaves with the next flush; returns its size, from the outer IPv6 header on.
  [[nodiscard]] Result<std::size_t, Unsent> send(const datapath::Outgoing& outgoing, Instant now);
  // Returns the number of system calls.
  int flush() { return sender().flush(); }
  [[nodiscard]] bool has_unsent() { return sender().has_unsent(); }

  // Takes frames of all queues in turn.
  [[nodiscard]] std::size_t receive(std::span<MutableBytes> into);
  [[nodiscard]] const std::vector<std::unique_ptr<FrameSocket>>& sockets() const {
    return sockets_;
  }

 private:
  Port(const datapath::Settings& settings, std::string name, Interface interface,
       datapath::FileDescriptor lock, Program program, NextHops next_hops);
  [[nodiscard]] Result<void, datapath::Error> open_sockets(Patience patience);
  [[nodiscard]] FrameSocket& sender() { return *sockets_.front(); }

  const datapath::Settings& settings_;
  std::string name_;
  Interface interface_;
  datapath::FileDescriptor lock_;
  Program program_;
  NextHops next_hops_;
  std::vector<std::unique_ptr<FrameSocket>> sockets_{};  // by queue; gone before the program
  std::size_t next_queue_ = 0;
  std::uint64_t drops_ = 0;  // that were taken
  datapath::Frame frame_;
};

}  // namespace openmrc::xdp
