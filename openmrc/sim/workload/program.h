// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "openmrc/base/picoseconds.h"
#include "openmrc/fabric/fabric.h"

namespace openmrc::sim {

// The program's own number for a message; the receiver is given it.
using MessageTag = std::uint32_t;

struct Send {
  fabric::HostIndex to{};
  std::uint64_t bytes = 0;
  MessageTag tag = 0;
};

// This host's part in one step of a training job.
struct StepMark {
  std::uint32_t step = 0;
  Picoseconds begin{};
  Picoseconds end{};
};

// What a program asks for when it is called; the host does it and clears it.
struct Requests {
  std::vector<Send> sends;
  Picoseconds wake_at = kNoTime;  // replaces what was asked for before
  std::vector<StepMark> steps;
};

// The application on one host. It sees only what its host sees: the time, its own messages when
// they have arrived, and those of others. So a run is the same however the hosts are divided up.
class Program {
 public:
  virtual ~Program() = default;

  // At time 0, and when a time that it asked for has come.
  virtual void on_time(Picoseconds now, Requests& requests) = 0;
  // A message of this host has arrived, and the sender knows.
  virtual void on_sent(Picoseconds now, fabric::HostIndex to, MessageTag tag,
                       Requests& requests) = 0;
  // A message for this host has arrived. Messages of one sender come in the order of sending.
  virtual void on_received(Picoseconds now, fabric::HostIndex from, MessageTag tag,
                           Requests& requests) = 0;
  // Whether all that was to be done is done.
  [[nodiscard]] virtual bool done() const = 0;
};

}  // namespace openmrc::sim
