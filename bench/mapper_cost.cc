// SPDX-License-Identifier: BSD-3-Clause
// What a host's mapper costs in fabrics of different sizes: memory, the bytes of its page, and
// rounds to be counted by count_instructions.py.
//
//   mapper_cost PLANES RACKS HOSTS_PER_RACK UPLINKS [--lossy]
//
// --lossy: one probe of a thousand is lost, on all links, so that every link is watched.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "bench/heap_count.h"
#include "openmrc/base/rng.h"
#include "openmrc/fabric/usid_plan.h"
#include "openmrc/mapper/mapper.h"
#include "openmrc/mapper/report.h"

namespace {

using namespace openmrc;
using mapper::Mapper;

constexpr int kArgumentsMin = 5;
constexpr std::uint32_t kRounds = 4'000;  // a multiple of those that are judged together
constexpr std::uint32_t kRoundsPerSecond = 100;

struct World {
  Mapper mapper;
  Rng rng{1};
  bool is_lossy = false;
  Instant now{1};
};

std::uint32_t number(const char* text) {
  return static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

}  // namespace

// All that a mapper does in a round: probes leave, come back and are judged.
extern "C" [[gnu::noinline, gnu::used]] void measured_round(World& world) {
  constexpr Ratio kLoss{.numerator = 1, .denominator = 1'000};
  world.mapper.tick(world.now);
  for (const Mapper::Outgoing& each : world.mapper.round(world.now)) {
    world.mapper.sent(each.path);
    if (world.is_lossy && world.rng.chance(kLoss)) continue;
    world.mapper.receive(each.path.plane, each.bytes, world.now);
  }
  world.now = std::max(world.now, world.mapper.next_tick());
}

int main(int argc, char** argv) {
  const bool is_lossy = argc == kArgumentsMin + 1 && std::string_view(argv[5]) == "--lossy";
  const auto fabric = argc < kArgumentsMin
                          ? failure(fabric::ShapeError::kPlanes)
                          : fabric::Fabric::make({.planes = number(argv[1]),
                                                  .racks = number(argv[2]),
                                                  .hosts_per_rack = number(argv[3]),
                                                  .uplinks = number(argv[4])});
  if (!fabric || argc > kArgumentsMin + (is_lossy ? 1 : 0)) {
    std::fprintf(stderr, "usage: mapper_cost PLANES RACKS HOSTS_PER_RACK UPLINKS [--lossy]\n");
    return 2;
  }
  const std::size_t before = bench::heap_count().live_bytes;
  const mapper::ProbePlan plan(fabric::UsidPlan(*fabric), fabric::HostIndex(0));
  World world{.mapper = Mapper(plan, {.rounds_per_second = kRoundsPerSecond}, {1, 2}),
              .is_lossy = is_lossy};
  while (world.mapper.counters().rounds < kRounds) measured_round(world);
  const std::size_t bytes = bench::heap_count().live_bytes - before;
  const auto page = to_json(report_of(world.mapper, "h0", 0, world.now));
  std::printf("rounds %u\nheap_bytes %zu\npage_bytes %zu\n", kRounds, bytes, page.size());
  return 0;
}
