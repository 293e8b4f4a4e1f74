// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrcd/pages.h"

#include "openmrc/mapper/report.h"
#include "tools/mrcd/metrics_text.h"

namespace openmrc::tools {

std::vector<Page> pages_of(libmrc::Agent& agent, const prober::Prober* prober,
                           const host::MetricsConfig& config) {
  std::vector<Page> pages;
  if (kHasMetricsText) {
    const std::size_t processes_max =
        config.processes ? libmrc::kPublisherLimits.clients_max : std::size_t{0};
    pages.push_back(
        {.path = "/metrics",
         .type = "text/plain; version=0.0.4; charset=utf-8",
         .text = [&agent, processes_max] { return metrics_text(agent.samples(processes_max)); }});
  }
  if (prober != nullptr) {
    pages.push_back({.path = "/map", .type = "application/json", .text = [prober] {
                       return mapper::to_json(*prober->report());
                     }});
  }
  return pages;
}

}  // namespace openmrc::tools
