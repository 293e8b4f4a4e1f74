// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "openmrc/host/config.h"
#include "tools/mrc/perf/plan.h"

namespace openmrc::tools {

enum class PerfOutput : std::uint8_t { kBandwidth, kMessageRate, kLatency };

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
  std::optional<std::string> secret_file{};
  std::uint64_t memory_max = kMemoryMaxDefault;  // bytes for messages
  bool gigabits = false;
  bool no_peak = false;
  std::optional<PerfOutput> output{};  // nothing but this number
  double bandwidth_least = 0;          // in the unit of the result; below it the test fails
  double message_rate_least = 0;       // in millions a second; together with the former
  bool histogram = false;
  bool samples = false;  // latency: every sample, in order
  bool keep_serving = false;
  bool quiet = false;                  // no live line, no header
  std::vector<std::string> ignored{};  // options of perftest that have no meaning here
};

}  // namespace openmrc::tools
