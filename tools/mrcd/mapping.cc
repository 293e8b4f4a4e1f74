// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrcd/mapping.h"

#include <fmt/core.h>

#include <utility>

#include "openmrc/mapper/report.h"

namespace openmrc::tools {

Result<Mapping, host::Error> start_mapping(const host::Config& config) {
  Mapping mapping;
  if (!config.mapper.enabled) return mapping;
  auto prober = prober::Prober::start(config);
  if (!prober) return failure(std::move(prober.error()));
  mapping.prober = *std::move(prober);
  if (config.mapper.page.empty()) return mapping;
  auto page = PageServer::open(config.mapper.page, kMapPath, [from = mapping.prober.get()] {
    return mapper::to_json(*from->report());
  });
  if (!page) return failure(std::move(page.error()));
  mapping.page = *std::move(page);
  fmt::print("mrcd: maps at http://{}{}\n", config.mapper.page, kMapPath);
  return mapping;
}

}  // namespace openmrc::tools
