// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "openmrc/core/paths/ev_state.h"
#include "openmrc/sim/scenario/scenario.h"
#include "openmrc/sim/simulation.h"

// Runs of examples/scenarios, and what tests ask of their results.
namespace openmrc::sim {

constexpr Picoseconds us(std::int64_t n) { return Picoseconds(n * 1'000'000); }

inline Result<std::string, std::string> read_whole_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return failure("cannot open " + path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// examples/scenarios/<name>.toml
inline Scenario example(const std::string& name) {
  const std::string path = std::string(OPENMRC_SCENARIOS) + "/" + name + ".toml";
  const auto text = read_whole_file(path);
  if (!text) {
    ADD_FAILURE() << text.error();
    return {};
  }
  auto scenario = parse_scenario(*text, name, read_whole_file);
  if (scenario) return *std::move(scenario);
  ADD_FAILURE() << path << ":\n" << to_string(scenario.error());
  return {};
}

// Whatever happens to the network, packets are accounted for and no queue pair breaks.
inline RunResult run_whole(const Scenario& scenario) {
  RunResult result = run(scenario, {});
  EXPECT_EQ(check_packet_accounting(result.totals), "");
  EXPECT_EQ(result.totals.messages_failed, 0U);
  return result;
}

// The ends are taken to the nearest slice of the result below.
struct Span {
  Picoseconds from{};
  Picoseconds to{};
};

template <class Value>
auto sum(const RunResult& result, const Span& span, Value value) {
  const std::int64_t width = result.bucket_width.raw();
  const auto count = static_cast<std::int64_t>(result.buckets.size());
  decltype(value(result.buckets.front())) total{};
  for (std::int64_t i = span.from.raw() / width; i < std::min(count, span.to.raw() / width); ++i) {
    total += value(result.buckets[static_cast<std::size_t>(i)]);
  }
  return total;
}

// Payload that arrived whole at all hosts, in Gb/s.
inline double goodput(const RunResult& result, const Span& span) {
  const std::uint64_t bytes = sum(result, span, [](const Bucket& bucket) {
    std::uint64_t planes = 0;
    for (const std::uint64_t plane : bucket.payload_bytes) planes += plane;
    return planes;
  });
  return static_cast<double>(bytes) * 8'000 / static_cast<double>((span.to - span.from).raw());
}

// Of all windows of this width in the span.
inline double lowest_goodput(const RunResult& result, const Span& span, Picoseconds width) {
  double lowest = goodput(result, {span.from, span.from + width});
  for (Picoseconds at = span.from; at + width <= span.to; at += result.bucket_width) {
    lowest = std::min(lowest, goodput(result, {at, at + width}));
  }
  return lowest;
}

// From the begin of the span to the end of the last window in it that has less than this goodput.
inline Picoseconds time_below(const RunResult& result, const Span& span, double gbps,
                              Picoseconds width) {
  Picoseconds last = span.from;
  for (Picoseconds at = span.from; at + width <= span.to; at += result.bucket_width) {
    if (goodput(result, {at, at + width}) < gbps) last = at + width;
  }
  return last - span.from;
}

inline std::uint64_t retransmissions(const RunResult& result, const Span& span) {
  return sum(result, span, [](const Bucket& bucket) { return bucket.retransmissions; });
}

// EVs of all connections that carry nothing at this time: suspected, or disabled for loss.
inline std::int64_t evs_out(const RunResult& result, Picoseconds when) {
  constexpr auto kSuspect = static_cast<std::size_t>(core::EvState::kSuspect);
  constexpr auto kBad = static_cast<std::size_t>(core::EvState::kAssumedBad);
  return sum(result, {Picoseconds{}, when}, [](const Bucket& bucket) {
    return bucket.ev_changes[kSuspect] + bucket.ev_changes[kBad];
  });
}

// From the begin of the span to the end of the last slice in which EVs were disabled.
inline Picoseconds last_ev_lost(const RunResult& result, const Span& span) {
  Picoseconds last = span.from;
  for (Picoseconds at = span.from; at < span.to; at += result.bucket_width) {
    const Picoseconds end = at + result.bucket_width;
    if (evs_out(result, end) > evs_out(result, at)) last = end;
  }
  return last - span.from;
}

}  // namespace openmrc::sim
