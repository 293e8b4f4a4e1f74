// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "openmrc/host/config.h"

namespace openmrc::tools {

enum class PerfTest : std::uint8_t { kWriteBandwidth, kWriteLatency };

// What both sides must agree on. The client says it, the server follows.
struct PerfPlan {
  PerfTest test = PerfTest::kWriteBandwidth;
  std::uint32_t size = 65536;    // bytes of a message
  std::uint64_t iterations = 0;  // of a queue pair; 0: until the time is up
  double seconds = 0;
  std::uint32_t queue_pairs = 1;
  std::uint32_t depth = 128;  // send queue depth: messages of a queue pair in flight
  bool verify = false;
  bool both_ways = false;
  bool sleeps = false;  // latency: event-driven instead of busy-polling
};

struct PerfOptions {
  PerfPlan plan{};
  std::optional<std::string> server{};  // none: this is the server
  std::optional<std::string> config{};
  std::optional<std::uint16_t> port{};
  std::optional<host::Progress> progress{};
  std::optional<std::size_t> shards{};
  std::optional<std::size_t> burst{};
  std::optional<std::uint32_t> mtu{};
  std::optional<std::string> json{};      // file for the result
  std::optional<std::string> timeline{};  // file for what arrived in each millisecond
  bool gigabits = false;
  bool histogram = false;
  bool samples = false;  // latency: every sample, in order
  bool keep_serving = false;
  bool quiet = false;  // no live line, no header
};

}  // namespace openmrc::tools
