// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "openmrc/base/picoseconds.h"

namespace openmrc::sim {

// How far a run has come, for whoever waits.
struct Progress {
  Picoseconds time{};
  std::uint64_t hops = 0;
  std::uint32_t hosts_done = 0;
  std::uint32_t hosts = 0;
};

class Exchange;

struct RunOptions {
  std::size_t threads = 1;
  // Called by the first thread now and then; returns whether to go on. May be null.
  bool (*on_progress)(void* context, const Progress& progress) = nullptr;
  void* progress_context = nullptr;
  // Joins several processes; null: this one is alone.
  Exchange* exchange = nullptr;
};

// What a run took, apart from its result.
struct RunCost {
  std::uint64_t windows = 0;
  std::uint64_t packet_bytes = 0;  // memory for packets in flight
};

}  // namespace openmrc::sim
