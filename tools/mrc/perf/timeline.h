// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/host/host.h"

namespace openmrc::tools {

// Notes once a millisecond how many bytes have been placed in this host's memory, and writes it to
// a file at the end: "time_ns,bytes", time as of CLOCK_MONOTONIC, which all namespaces of a machine
// share.
class PerfTimeline {
 public:
  PerfTimeline(const host::Host& host, std::string file);
  ~PerfTimeline();
  PerfTimeline(const PerfTimeline&) = delete;
  PerfTimeline& operator=(const PerfTimeline&) = delete;

  // Ends it; says what is wrong if the file cannot be written.
  [[nodiscard]] Result<void, host::Error> finish();

 private:
  struct Sample {
    std::int64_t time_ns;
    std::uint64_t bytes;
  };
  void note();

  const host::Host& host_;
  std::string file_;
  std::vector<Sample> samples_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace openmrc::tools
