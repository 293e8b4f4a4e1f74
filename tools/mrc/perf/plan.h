// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/host/exchange.h"

namespace openmrc::tools {

enum class PerfTest : std::uint8_t { kWriteBandwidth, kWriteLatency };
std::string_view name(PerfTest test);

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
  bool sleeps = false;     // latency: event-driven instead of busy-polling
  bool all_sizes = false;  // powers of two up to `size`, one test after the other

  bool operator==(const PerfPlan&) const = default;
};

inline constexpr std::uint32_t kMessageSizeMax = 1u << 30;
inline constexpr std::uint32_t kQueuePairsMax = 16384;  // as in perftest
inline constexpr std::uint32_t kDepthMax = 15000;       // as in perftest
inline constexpr std::uint64_t kIterationsMax = std::uint64_t{1} << 32;
inline constexpr double kSecondsMax = 1e6;

// Of one side, unless --memory-max says otherwise.
inline constexpr std::uint64_t kMemoryMaxDefault = std::uint64_t{1} << 30;

// What -a runs, as in perftest.
inline constexpr std::uint32_t kAllSizesFirst = 2;
inline constexpr std::uint32_t kAllSizesLast = 1u << 23;

// The sizes of the messages, one test after the other.
std::vector<std::uint32_t> sizes_of(const PerfPlan& plan);

// How the memory of a test is divided, on each side.
struct PerfLayout {
  std::size_t slots = 1;       // messages in a lane's memory, in each direction
  std::size_t lane_bytes = 0;  // of these, in one direction
  std::size_t lanes = 1;       // with memory of their own

  [[nodiscard]] std::size_t bytes() const { return 2 * lane_bytes * lanes; }
};
PerfLayout layout_of(const PerfPlan& plan);

// Whether the plan needs no more than that.
[[nodiscard]] Result<void, host::ExchangeError> check_memory(const PerfPlan& plan,
                                                             std::uint64_t memory_max);

// One line of JSON. What is read comes from a client that is not trusted.
std::string to_json(const PerfPlan& plan);
Result<PerfPlan, host::ExchangeError> plan_from(std::string_view line);

}  // namespace openmrc::tools
