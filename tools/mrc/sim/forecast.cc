// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/forecast.h"

#include <algorithm>
#include <numeric>
#include <variant>

#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/workload/trace_replay.h"
#include "openmrc/sim/workload/workload.h"

namespace openmrc::tools {
namespace {

using fabric::Fabric;
using fabric::HostIndex;

// Departures of a packet on its way: from the NIC and from each switch.
constexpr double kHopsInRack = 2;
constexpr double kHopsAcrossRacks = 4;
// Hosts that are looked at; the others are taken to be like them.
constexpr std::uint32_t kHostsSampled = 1024;
// How many control packets there are: MRC's receivers also answer what is marked, trimmed or out of
// order; RC's acknowledge every 16th packet.
constexpr double kSacksPerThreshold = 1.5;
constexpr double kRcAcksPerPacket = 1.0 / 16;

// Bytes of all messages.
struct MessageBytes {
  std::uint32_t hosts;

  double operator()(const sim::Permutation& w) const {
    return double{1} * hosts * w.messages * static_cast<double>(w.bytes);
  }
  double operator()(const sim::Incast& w) const {
    return std::accumulate(
        w.victims.begin(), w.victims.end(),
        static_cast<double>(w.senders.size()) * static_cast<double>(w.bytes),
        [](double sum, const auto& victim) { return sum + static_cast<double>(victim.bytes); });
  }
  double operator()(const sim::AllToAll& w) const {
    return static_cast<double>(w.hosts) * static_cast<double>(w.bytes);
  }
  // Both kinds send as much: each host all but its own part, twice.
  static double all_reduce(std::uint32_t hosts, std::uint64_t bytes) {
    return 2.0 * (hosts - 1) * static_cast<double>(bytes);
  }
  double operator()(const sim::AllReduce& w) const { return all_reduce(w.hosts, w.bytes); }
  double operator()(const sim::TrainingSteps& w) const {
    return w.steps * std::accumulate(w.all_reduce_bytes.begin(), w.all_reduce_bytes.end(), 0.0,
                                     [&](double sum, std::uint64_t bytes) {
                                       return sum + all_reduce(w.hosts, bytes);
                                     });
  }
  double operator()(const sim::OverlappedTraining& w) const {
    return w.steps * std::accumulate(w.all_reduce_bytes.begin(), w.all_reduce_bytes.end(), 0.0,
                                     [&](double sum, std::uint64_t bytes) {
                                       return sum + all_reduce(w.hosts, bytes);
                                     });
  }
  double operator()(const sim::RingHalf& w) const {
    return w.steps * all_reduce(w.hosts, w.bytes) / 2;
  }
  double operator()(const sim::MixtureOfExperts& w) const {
    return 2.0 * w.steps * w.layers * w.hosts * static_cast<double>(w.bytes);
  }
  double operator()(const sim::Pipeline& w) const {
    const std::uint32_t width = w.hosts / w.stages;
    const double boundaries = 2.0 * w.micro_batches * width * (w.stages - 1);
    return w.steps * (boundaries * static_cast<double>(w.bytes) +
                      w.stages * all_reduce(width, w.all_reduce_bytes));
  }
  double operator()(const sim::TraceReplay& w) const {
    double bytes = 0;
    for (const sim::RankTrace& trace : w.job->ranks) {
      for (const sim::TraceNode& node : trace) bytes += 2 * static_cast<double>(node.bytes);
    }
    return w.steps * bytes;
  }
  // Without an end of its own it lasts as long as the others, and that is not known.
  double operator()(const sim::Background& w) const {
    return static_cast<double>(w.hosts - w.servers) * static_cast<double>(w.bits_per_second) / 8 *
           number(w.duration) / static_cast<double>(kPicosecondsPerSecond);
  }
  double operator()(const sim::JobList& w) const {
    return std::accumulate(w.jobs.begin(), w.jobs.end(), 0.0, [&](double sum, const sim::Job& job) {
      return sum + std::visit(*this, job.workload);
    });
  }
  double operator()(const sim::FlowList& w) const {
    return std::accumulate(w.flows.begin(), w.flows.end(), 0.0,
                           [](double sum, const sim::FlowList::Flow& flow) {
                             return sum + static_cast<double>(flow.bytes) * flow.repeat;
                           });
  }
};

double mean_hops(const sim::Scenario& scenario, const Fabric& fabric) {
  const auto workload = sim::make_workload(scenario.workload, fabric, scenario.seed);
  const std::uint32_t step = std::max(1U, fabric.hosts() / kHostsSampled);
  double hops = 0;
  double pairs = 0;
  for (std::uint32_t host = 0; host < fabric.hosts(); host += step) {
    for (const HostIndex to : workload->destinations(HostIndex(host))) {
      hops +=
          fabric.rack_of(HostIndex(host)) == fabric.rack_of(to) ? kHopsInRack : kHopsAcrossRacks;
      ++pairs;
    }
  }
  return pairs == 0 ? kHopsAcrossRacks : hops / pairs;
}

double control_per_data(const sim::Scenario& scenario) {
  const auto* mrc = std::get_if<sim::MrcTransport>(&scenario.transport);
  if (mrc == nullptr) return kRcAcksPerPacket;
  return kSacksPerThreshold * scenario.mtu() /
         std::max(scenario.mtu(), mrc->profile.sack.threshold_bytes);
}

}  // namespace

double expected_hops(const sim::Scenario& scenario) {
  const auto fabric = Fabric::make(scenario.shape);
  if (!fabric) return 0;
  const double bytes = std::visit(MessageBytes{fabric->hosts()}, scenario.workload);
  return bytes / scenario.mtu() * (1 + control_per_data(scenario)) * mean_hops(scenario, *fabric);
}

}  // namespace openmrc::tools
