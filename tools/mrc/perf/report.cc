// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/perf/report.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

namespace openmrc::tools {
namespace {

using nlohmann::ordered_json;

constexpr int kRuleWidth = 87;

std::string title(const PerfPlan& plan) {
  std::string text = plan.verify ? "RDMA_Write_imm " : "RDMA_Write ";
  if (plan.test == PerfTest::kWriteLatency) return text + "Latency Test";
  return text + (plan.both_ways ? "Bidirectional " : "") + "BW Test";
}

double rate_of(std::uint64_t amount, Duration time) {
  return time.raw() > 0 ? static_cast<double>(amount) * 1e9 / static_cast<double>(time.raw()) : 0;
}

// The statistics of perftest: of the sorted samples all but the two largest.
struct LatencyFigures {
  double least = 0, most = 0, typical = 0, average = 0, deviation = 0, p99 = 0, p999 = 0;
};

LatencyFigures figures(const LatencyResult& result) {
  LatencyFigures out;
  std::vector<std::int64_t> sorted = result.half_round_trips;
  std::ranges::sort(sorted);
  if (sorted.empty()) return out;
  const std::size_t counted = sorted.size() > 2 ? sorted.size() - 2 : sorted.size();
  const auto us = [&](std::size_t place) {
    return static_cast<double>(sorted[std::min(place, sorted.size() - 1)]) / 1e3;
  };
  const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(counted);
  const auto n = static_cast<double>(counted);
  out.least = us(0);
  out.most = us(counted);
  out.typical = us(counted / 2);
  out.average =
      static_cast<double>(std::accumulate(sorted.begin(), end, std::int64_t{0})) / n / 1e3;
  double squares = 0;
  for (auto at = sorted.begin(); at != end; ++at) {
    const double off = static_cast<double>(*at) / 1e3 - out.average;
    squares += off * off;
  }
  out.deviation = std::sqrt(squares / n);
  out.p99 = us(static_cast<std::size_t>(std::ceil(0.99 * n)));
  out.p999 = us(static_cast<std::size_t>(std::ceil(0.999 * n)));
  return out;
}

ordered_json test_info(PerfSession& session) {
  const PerfPlan& plan = session.plan();
  std::string test = title(plan);
  std::ranges::replace(test, ' ', '_');
  const host::Config& config = session.host().config();
  return {{"test", test},
          {"Device", "openmrc0"},
          {"Number_of_qps", plan.queue_pairs},
          {"Transport_type", "IB"},
          {"Connection_type", "MRC"},
          {"Using_SRQ", "OFF"},
          {"TX_depth", plan.depth},
          {"Mtu", config.transport.mtu},
          {"Link_type", "Ethernet"},
          {"Data_ex_method", "Ethernet"},
          {"Planes", config.ports.size()},
          {"EVs", session.host().paths().profiles().front()->size()},
          {"Peer", session.peer_name()}};
}

ordered_json counters_json(const host::Host& host) {
  ordered_json out = ordered_json::object();
  const core::Counters counters = host.counters();
  for (std::size_t i = 0; i < core::kCounterTable.size(); ++i) {
    const std::uint64_t value = counters.of(static_cast<core::Count>(i));
    if (value > 0) out[std::string(core::kCounterTable[i].name)] = value;
  }
  return out;
}

// What the kernel did with the packets.
ordered_json datapath_json(const host::Host& host) {
  ordered_json out = ordered_json::object();
  for (std::size_t i = 0; i < datapath::kCounterTable.size(); ++i) {
    const std::uint64_t value = host.count_of(static_cast<datapath::Count>(i));
    if (value > 0) out[std::string(datapath::kCounterTable[i].name)] = value;
  }
  return out;
}

// How the paths of the first queue pair are, at the end.
ordered_json paths_json(PerfSession& session) {
  ordered_json out = ordered_json::array();
  for (const host::PlanePaths& plane : session.lanes().front().qp->paths()) {
    ordered_json states = ordered_json::object();
    for (std::size_t i = 0; i < plane.evs.size(); ++i) {
      states[std::string(name(static_cast<core::EvState>(i)))] = plane.evs[i];
    }
    out.push_back(states);
  }
  return out;
}

}  // namespace

void print_perf_rule() { fmt::print("{}\n", std::string(kRuleWidth, '-')); }

void print_perf_header(PerfSession& session, const PerfOptions& options) {
  if (options.quiet) return;
  const PerfPlan& plan = session.plan();
  const host::Config& config = session.host().config();
  constexpr std::array<std::string_view, datapath::kModeNames.size()> kModes{
      "UDP", "UDP to uSID", "SRv6", "SRv6 by AF_XDP"};
  print_perf_rule();
  fmt::print("{:20}{}\n", "", title(plan));
  fmt::print(" {:<16}: {}\t\tDevice         : openmrc0\n", "Dual-port", "OFF");
  fmt::print(" {:<16}: {}\t\tTransport type : IB\n", "Number of qps", plan.queue_pairs);
  fmt::print(" {:<16}: {}\t\tUsing SRQ      : OFF\n", "Connection type", "MRC");
  fmt::print(" {:<16}: {}\n", "TX depth", plan.depth);
  fmt::print(" {:<16}: {}[B]\n", "Mtu", config.transport.mtu);
  fmt::print(" {:<16}: Ethernet\n", "Link type");
  fmt::print(" {:<16}: {} planes, {} EVs, {}\n", "Paths", config.ports.size(),
             session.host().paths().profiles().front()->size(),
             kModes[static_cast<std::size_t>(config.mode)]);
  fmt::print(" {:<16}: {}\n", "Peer", session.peer_name());
  print_perf_rule();
  std::fflush(stdout);
}

// A run that is too short for a peak has its average.
BandwidthFigures figures(const PerfOptions& options, const BandwidthResult& result) {
  const double unit = options.gigabits ? 8 / 1e9 : 1.0 / (1 << 20);
  const double average = rate_of(result.bytes, result.time);
  const double peak = std::max(result.peak_bytes_per_second, average);
  return {.peak = options.no_peak ? 0 : peak * unit,
          .average = average * unit,
          .million_messages = rate_of(result.messages, result.time) / 1e6};
}

void print_bandwidth_head(const PerfOptions& options) {
  if (options.output) return;
  fmt::print(" #bytes     #iterations    BW peak[{0}]    BW average[{0}]   MsgRate[Mpps]\n",
             options.gigabits ? "Gb/sec" : "MiB/sec");
}

void print_bandwidth_row(const PerfPlan& plan, const PerfOptions& options,
                         const BandwidthResult& result) {
  const BandwidthFigures out = figures(options, result);
  if (options.output) {
    const bool is_rate = options.output == PerfOutput::kMessageRate;
    fmt::print("{:f}\n", is_rate ? out.million_messages : out.average);
    return;
  }
  const int digits = options.gigabits && out.average < 0.1 ? 6 : 2;
  fmt::print(" {:<10} {:<14} {:<18.{}f} {:<20.{}f} {:.6f}\n", plan.size, result.messages, out.peak,
             digits, out.average, digits, out.million_messages);
  std::fflush(stdout);
}

void print_latency_head(const PerfPlan& plan, const PerfOptions& options) {
  if (options.output) return;
  if (plan.seconds > 0) {
    fmt::print(" #bytes        #iterations       t_avg[usec]    tps average\n");
    return;
  }
  fmt::print(
      " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
      "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]\n");
}

void print_latency_row(const PerfPlan& plan, const PerfOptions& options,
                       const LatencyResult& result) {
  const LatencyFigures out = figures(result);
  const std::size_t count = result.half_round_trips.size();
  if (options.output) return fmt::print("{:f}\n", out.average);
  if (plan.seconds > 0) {
    fmt::print(" {:<13} {:<17} {:<14.2f} {:.2f}\n", plan.size, count, out.average,
               rate_of(count, result.time));
  } else {
    fmt::print(" {:<6} {:<14} {:<14.2f} {:<12.2f} {:<18.2f} {:<14.2f} {:<15.2f} {:<22.2f} {:.2f}\n",
               plan.size, count, out.least, out.most, out.typical, out.average, out.deviation,
               out.p99, out.p999);
  }
  std::fflush(stdout);
}

void print_latency_samples(const PerfOptions& options, const LatencyResult& result) {
  if (!options.samples) return;
  for (const std::int64_t ns : result.half_round_trips) {
    fmt::print("{:.2f}\n", static_cast<double>(ns) / 1e3);
  }
}

void print_latency_histogram(const PerfOptions& options, const LatencyResult& result) {
  if (!options.histogram) return;
  const auto place_of = [](std::int64_t ns) {
    return static_cast<int>(
        std::floor(std::log2(static_cast<double>(std::max<std::int64_t>(1, ns))) * 2));
  };
  std::vector<std::uint64_t> counts(128);
  for (const std::int64_t ns : result.half_round_trips)
    ++counts[static_cast<std::size_t>(place_of(ns))];
  const std::uint64_t most = *std::ranges::max_element(counts);
  fmt::print("\n{:>22}  {:>9}\n", "latency [usec]", "samples");
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const auto bar = static_cast<std::size_t>(50 * counts[i] / most);
    fmt::print("{:>9.2f} to {:>9.2f}  {:>9}  {}\n", std::exp2(static_cast<double>(i) / 2) / 1e3,
               std::exp2(static_cast<double>(i + 1) / 2) / 1e3, counts[i],
               std::string(std::max<std::size_t>(bar, 1), '#'));
  }
}

void print_table_end(const PerfOptions& options) {
  if (!options.output) print_perf_rule();
}

std::string bandwidth_json(PerfSession& session, const PerfOptions& options,
                           const BandwidthResult& result) {
  const BandwidthFigures out = figures(options, result);
  return ordered_json{{"test_info", test_info(session)},
                      {"results",
                       {{"MsgSize", session.plan().size},
                        {"n_iterations", result.messages},
                        {"BW_peak", out.peak},
                        {"BW_average", out.average},
                        {"BW_unit", options.gigabits ? "Gb/sec" : "MiB/sec"},
                        {"MsgRate", out.million_messages},
                        {"bytes", result.bytes},
                        {"seconds", static_cast<double>(result.time.raw()) / 1e9},
                        {"verified", result.verified},
                        {"verified_by_peer", result.verified_by_peer}}},
                      {"paths", paths_json(session)},
                      {"counters", counters_json(session.host())},
                      {"datapath", datapath_json(session.host())}}
      .dump(2);
}

std::string latency_json(PerfSession& session, const LatencyResult& result) {
  const LatencyFigures out = figures(result);
  ordered_json results{{"MsgSize", session.plan().size},
                       {"n_iterations", result.half_round_trips.size()},
                       {"t_min", out.least},
                       {"t_max", out.most},
                       {"t_typical", out.typical},
                       {"t_avg", out.average},
                       {"t_stdev", out.deviation},
                       {"percentile_99", out.p99},
                       {"percentile_99.9", out.p999}};
  if (session.plan().seconds > 0)
    results["tps_average"] = rate_of(result.half_round_trips.size(), result.time);
  return ordered_json{{"test_info", test_info(session)},
                      {"results", results},
                      {"paths", paths_json(session)},
                      {"counters", counters_json(session.host())},
                      {"datapath", datapath_json(session.host())}}
      .dump(2);
}

}  // namespace openmrc::tools
