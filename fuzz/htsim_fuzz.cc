// SPDX-License-Identifier: BSD-3-Clause
// Feeds bytes to the readers of htsim's files: traffic (.cm) and topology (.topo).
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/fuzz_check.h"
#include "openmrc/fabric/fabric_file.h"
#include "openmrc/sim/scenario/htsim_traffic.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace openmrc;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
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
