// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "openmrc/text/numbers.h"

namespace openmrc::tools {
namespace {

using sim::FlowRecord;

// So many flows are named; the others are counted.
constexpr std::size_t kFlowsNamed = 5;

std::string cause(Stop stop, Picoseconds end) {
  const std::string when = text::human(end);
  switch (stop) {
    case Stop::kInterrupted: return fmt::format("it was interrupted after {}", when);
    case Stop::kTimeLimit:
      return fmt::format("the time limit was reached after {}; raise time_limit to see more", when);
    case Stop::kNothingLeft: break;
  }
  return fmt::format("after {} no events were left", when);
}

std::vector<FlowRecord> unfinished_flows(const sim::RunResult& result) {
  std::vector<FlowRecord> flows;
  std::ranges::copy_if(result.flows, std::back_inserter(flows),
                       [](const FlowRecord& flow) { return flow.failed || flow.end == kNoTime; });
  // What broke is why others wait.
  std::ranges::stable_partition(flows, &FlowRecord::failed);
  return flows;
}

std::string flow_lines(const std::vector<FlowRecord>& flows) {
  const std::size_t named = std::min(flows.size(), kFlowsNamed);
  std::vector<std::string> hosts;
  std::size_t width = 0;
  for (std::size_t i = 0; i < named; ++i) {
    hosts.push_back(fmt::format("h{} > h{}", flows[i].from, flows[i].to));
    width = std::max(width, hosts.back().size());
  }
  std::string out;
  for (std::size_t i = 0; i < named; ++i) {
    out += fmt::format("  {:<{}}  {:>8}, started at {}: {}\n", hosts[i], width,
                       text::human_bytes(flows[i].bytes), text::human(flows[i].start),
                       flows[i].failed ? "failed: its queue pair went to ERROR" : "still open");
  }
  if (flows.size() > named) {
    out += fmt::format("  and {} more\n", text::grouped(flows.size() - named));
  }
  return out;
}

}  // namespace

std::string problems_of(const sim::RunResult& result, const sim::Progress& last, Stop stop) {
  std::string out;
  if (!result.finished) {
    const auto flows = unfinished_flows(result);
    out += fmt::format("the workload did not finish: {}.\n", cause(stop, result.end));
    out += fmt::format("{} of {} hosts were done; {} of {} flows that had started were not",
                       text::grouped(last.hosts_done), text::grouped(result.hosts),
                       text::grouped(flows.size()), text::grouped(result.flows.size()));
    out += (flows.empty() ? ".\n" : ":\n") + flow_lines(flows);
  }
  const std::string gap = check_packet_accounting(result.totals);
  if (!gap.empty()) {
    out += fmt::format(
        "packet accounting inconsistent: {}. This is a bug of the simulator; "
        "please report it with the scenario and the seed.\n",
        gap);
  }
  return out;
}

}  // namespace openmrc::tools
