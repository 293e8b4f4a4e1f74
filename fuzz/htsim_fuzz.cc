// SPDX-License-Identifier: BSD-3-Clause
// Feeds bytes to the readers of other programs' files: htsim's traffic (.cm) and topology (.topo),
// and Chakra's traces (.et) with their groups. Of a trace that can be replayed the graph can be
// made.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "fuzz/fuzz_check.h"
#include "openmrc/fabric/fabric_file.h"
#include "openmrc/sim/scenario/htsim_traffic.h"
#include "openmrc/sim/workload/trace_check.h"
#include "openmrc/sim/workload/trace_replay.h"

namespace {

void read_trace(std::string_view text) {
  using namespace openmrc;
  if (const auto groups = sim::parse_trace_groups(text); !groups) {
    FUZZ_CHECK(!groups.error().empty());
  }
  const auto trace = sim::parse_rank_trace(text);
  if (!trace) {
    FUZZ_CHECK(!trace.error().empty());
    return;
  }
  const auto job = std::make_shared<sim::TraceJob>();
  job->ranks = {*trace, *trace};
  const sim::TraceReplay settings{.hosts = 2, .job = job};
  const auto fabric = fabric::Fabric::make({.hosts_per_rack = 2});
  if (!sim::problem_with(settings, *fabric).empty()) return;
  FUZZ_CHECK(sim::is_acyclic(sim::trace_graph(settings, 1)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace openmrc;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_trace(text);
  if (const auto traffic = sim::parse_htsim_traffic(text)) {
    const auto& flows = traffic->list.flows;
    for (const auto& flow : flows) {
      FUZZ_CHECK(flow.from < traffic->nodes && flow.to < traffic->nodes && flow.bytes > 0);
      FUZZ_CHECK(flow.after < static_cast<std::int64_t>(flows.size()));
    }
  } else {
    FUZZ_CHECK(!traffic.error().message.empty());
  }
  if (const auto shape = fabric::parse_htsim_topology(text)) {
    FUZZ_CHECK(fabric::Fabric::make(*shape).has_value());
  } else {
    FUZZ_CHECK(!shape.error().empty());
  }
  return 0;
}
