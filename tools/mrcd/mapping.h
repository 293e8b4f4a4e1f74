// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "openmrc/base/result.h"
#include "openmrc/host/config.h"
#include "openmrc/host/error.h"
#include "openmrc/prober/prober.h"
#include "tools/mrcd/page_server.h"

namespace openmrc::tools {

// The mapper and its page; empty if the mapper is off.
struct Mapping {
  std::unique_ptr<prober::Prober> prober{};
  std::unique_ptr<PageServer> page{};  // reads from the prober, so it ends first
};

inline constexpr const char* kMapPath = "/map";

Result<Mapping, host::Error> start_mapping(const host::Config& config);

}  // namespace openmrc::tools
