// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/agent_metrics.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "openmrc/agent/rdma_counters.h"

namespace openmrc::libmrc {
namespace {

using core::Count;
using host::HostValues;
using host::MetricType;
using host::PlaneValue;
using host::Sample;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  file >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Under the names that all exporters have for it.
void add_own(std::vector<Sample>& samples) {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  samples.push_back({.name = "process_cpu_seconds_total",
                     .help = "processor time of mrcd",
                     .value = seconds_of(used.ru_utime) + seconds_of(used.ru_stime)});
  samples.push_back({.name = "process_resident_memory_bytes",
                     .help = "resident memory of mrcd",
                     .type = MetricType::kGauge,
                     .value = resident_bytes()});
}

void add_facts(const AgentFacts& facts, std::vector<Sample>& samples) {
  samples.push_back({.name = "openmrc_build_info",
                     .help = "the version of mrcd",
                     .type = MetricType::kGauge,
                     .labels = {{"version", facts.version}},
                     .value = std::uint64_t{1}});
  samples.push_back({.name = "openmrc_host_info",
                     .help = "the name of the host in the fabric",
                     .type = MetricType::kGauge,
                     .labels = {{"host", facts.host}},
                     .value = std::uint64_t{1}});
  for (const PortInfo& port : facts.ports) {
    samples.push_back(
        {.name = "openmrc_port_enabled",
         .help = "0: the controller has disabled the port",
         .type = MetricType::kGauge,
         .labels = {{"plane", std::to_string(port.port.raw() - 1)}, {"interface", port.name}},
         .value = std::uint64_t{port.enabled ? 1U : 0U}});
  }
  samples.push_back({.name = "openmrc_agent_clients",
                     .help = "connections of programs and controllers to mrcd",
                     .type = MetricType::kGauge,
                     .value = facts.clients});
  samples.push_back({.name = "openmrc_agent_refused_messages_total",
                     .help = "messages to mrcd that made no sense",
                     .value = facts.refused_messages});
}

void add_publishers(const Publishers::Totals& totals, std::vector<Sample>& samples) {
  samples.push_back({.name = "openmrc_processes",
                     .help = "processes that publish their counters",
                     .type = MetricType::kGauge,
                     .value = std::uint64_t{totals.processes}});
  for (std::size_t i = 0; i < Publishers::kRefusals; ++i) {
    samples.push_back({.name = "openmrc_publications_refused_total",
                       .help = "processes whose counters are not taken, by reason",
                       .labels = {{"reason", std::string(Publishers::kRefusalNames[i])}},
                       .value = totals.refused[i]});
  }
}

std::uint64_t traffic(const Publishers::Process& process) {
  return process.values.at(HostValues::place(datapath::Count::kBytesSent)) +
         process.values.at(HostValues::place(datapath::Count::kBytesReceived));
}

void add_processes(Publishers& publishers, std::size_t most, std::vector<Sample>& samples) {
  if (most == 0) return;
  std::vector<Publishers::Process> processes = publishers.processes();
  if (processes.size() > most) {
    std::ranges::stable_sort(processes, std::ranges::greater{}, traffic);
    processes.resize(most);
  }
  for (const Publishers::Process& each : processes) {
    add_process_samples(each.values, each.planes,
                        {{"pid", std::to_string(each.process)}, {"program", each.program}},
                        samples);
  }
}

// In the order of kPortCounterNames.
std::array<std::uint64_t, kPortCounterNames.size()> port_values(const HostValues& values,
                                                                std::size_t plane) {
  const auto of = [&](PlaneValue value) { return values.at(HostValues::place(value, plane)); };
  const std::uint64_t sent = of(PlaneValue::kSentPackets);
  const std::uint64_t received = of(PlaneValue::kReceivedPackets);
  constexpr std::uint64_t kWord = 4;
  return {of(PlaneValue::kSentBytes) / kWord,
          of(PlaneValue::kReceivedBytes) / kWord,
          sent,
          received,
          sent,
          received,
          of(PlaneValue::kFailedPackets)};
}

// In the order of kDeviceCounterNames.
std::array<std::uint64_t, kDeviceCounterNames.size()> device_values(const HostValues& values) {
  const auto of = [&](auto count) { return values.at(HostValues::place(count)); };
  std::uint64_t retransmits = 0;
  for (std::size_t i = 0; i < core::kCounterTable.size(); ++i) {
    if (core::kCounterTable[i].name.starts_with("retransmits_")) {
      retransmits += of(static_cast<Count>(i));
    }
  }
  return {of(Count::kNacksReceived),      of(Count::kTimeouts), of(Count::kDuplicatesReceived),
          of(Count::kRetransmitsRefused), retransmits,          of(Count::kEcnMarkedReceived),
          of(wire::Reject::kIcrcMismatch)};
}

}  // namespace

std::vector<Sample> agent_samples(const AgentFacts& facts, Publishers& publishers,
                                  std::size_t processes_max) {
  std::vector<Sample> samples;
  const Publishers::Totals totals = publishers.totals();
  add_facts(facts, samples);
  add_publishers(totals, samples);
  add_samples(totals.values, facts.ports.size(), {}, samples);
  add_processes(publishers, processes_max, samples);
  add_own(samples);
  return samples;
}

std::vector<RdmaCounter> rdma_counters(Publishers& publishers, PortNumber port) {
  const HostValues values = publishers.totals().values;
  std::vector<RdmaCounter> counters;
  const auto add = [&](const auto& names, const auto& numbers) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      counters.push_back({.name = std::string(names[i]), .value = numbers[i]});
    }
  };
  add(kPortCounterNames, port_values(values, port.raw() - std::size_t{1}));
  if (port.raw() == 1) add(kDeviceCounterNames, device_values(values));
  return counters;
}

}  // namespace openmrc::libmrc
