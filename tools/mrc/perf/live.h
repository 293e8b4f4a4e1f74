// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/time.h"
#include "openmrc/core/context/counters.h"
#include "tools/mrc/perf/session.h"

namespace openmrc::tools {

// A line a second about a running test: goodput, retransmits by cause, and the state of the
// paths of each plane are.
class PerfLive {
 public:
  PerfLive(PerfSession& session, const PerfOptions& options);

  void begin(Instant at);
  // Prints a line if one is due. `sent`: bytes that this side's writes have carried so far.
  void show(Instant at, std::uint64_t sent);
  // The line of the last second, unless only a small part of it has passed.
  void finish(Instant at, std::uint64_t sent);

 private:
  void print(Instant at, std::uint64_t sent);

  PerfSession& session_;
  bool on_;
  bool coloured_;
  Instant begin_{};
  Instant last_{};
  std::uint64_t last_bytes_ = 0;
  core::Counters last_counters_{};
  std::int64_t lines_ = 0;  // one for each second
};

}  // namespace openmrc::tools
