// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/perf/plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "openmrc/host/exchange_json.h"
#include "openmrc/text/units.h"

namespace openmrc::tools {
namespace {

using host::ExchangeError;
using host::ExchangeFault;

constexpr std::uint64_t kVersion = 2;
constexpr std::size_t kSlotsMax = 128;    // messages in a lane's memory
constexpr std::size_t kCreditBytes = 64;  // behind a lane's messages
constexpr std::size_t kNameMax = 32;

}  // namespace

std::string_view name(PerfTest test) {
  return test == PerfTest::kWriteBandwidth ? "write-bw" : "write-lat";
}

std::vector<std::uint32_t> sizes_of(const PerfPlan& plan) {
  if (!plan.all_sizes) return {plan.size};
  std::vector<std::uint32_t> sizes;
  for (std::uint32_t size = kAllSizesFirst; size <= plan.size; size *= 2) sizes.push_back(size);
  return sizes;
}

PerfLayout layout_of(const PerfPlan& plan) {
  PerfLayout layout;
  layout.slots = plan.verify ? std::min<std::size_t>(plan.depth, kSlotsMax) : 1;
  layout.lane_bytes = layout.slots * plan.size + kCreditBytes;
  layout.lanes = plan.verify ? plan.queue_pairs : 1;  // what is not verified may share its memory
  return layout;
}

Result<void, ExchangeError> check_memory(const PerfPlan& plan, std::uint64_t memory_max) {
  const PerfLayout layout = layout_of(plan);
  if (layout.bytes() <= memory_max) return {};
  return failure(ExchangeError{
      .fault = ExchangeFault::kRefused,
      .what = fmt::format("{} queue pairs with {} messages of {} each way need {} MiB of memory, "
                          "more than --memory-max allows ({})",
                          layout.lanes, layout.slots, text::format_size(plan.size),
                          (layout.bytes() >> 20) + 1, text::format_size(memory_max))});
}

std::string to_json(const PerfPlan& plan) {
  return nlohmann::ordered_json{{"openmrc_perf", kVersion},    {"test", name(plan.test)},
                                {"size", plan.size},           {"iterations", plan.iterations},
                                {"seconds", plan.seconds},     {"queue_pairs", plan.queue_pairs},
                                {"depth", plan.depth},         {"verify", plan.verify},
                                {"both_ways", plan.both_ways}, {"sleeps", plan.sleeps},
                                {"all_sizes", plan.all_sizes}}
      .dump();
}

Result<PerfPlan, ExchangeError> plan_from(std::string_view line) {
  const nlohmann::json json = host::parse_line(line);
  host::ObjectReader reader(json, "the client's request");
  std::uint64_t version = 0;
  reader.take("openmrc_perf", version, {});
  if (version != kVersion) reader.fail("is that of an incompatible mrc perf version");
  PerfPlan plan;
  std::string test;
  reader.take("test", test, kNameMax);
  if (test == name(PerfTest::kWriteLatency)) {
    plan.test = PerfTest::kWriteLatency;
  } else if (test != name(plan.test)) {
    reader.fail(fmt::format("names an unknown test \"{}\"", test));
  }
  reader.take("size", plan.size, {1, kMessageSizeMax});
  reader.take("iterations", plan.iterations, {0, kIterationsMax});
  reader.take("seconds", plan.seconds, kSecondsMax);
  reader.take("queue_pairs", plan.queue_pairs, {1, kQueuePairsMax});
  reader.take("depth", plan.depth, {1, kDepthMax});
  reader.take("verify", plan.verify);
  reader.take("both_ways", plan.both_ways);
  reader.take("sleeps", plan.sleeps);
  reader.take("all_sizes", plan.all_sizes);
  return reader.finish(plan);
}

}  // namespace openmrc::tools
