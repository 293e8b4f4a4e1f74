// SPDX-License-Identifier: BSD-3-Clause
// Feeds bytes to the readers of scenarios and of sweeps. Of what is accepted, the workload can be
// made.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/fuzz_check.h"
#include "openmrc/sim/experiment/sweep_file.h"
#include "openmrc/sim/scenario/scenario.h"
#include "openmrc/sim/workload/workload.h"

namespace {

openmrc::Result<std::string, std::string> read_file(const std::string& /*path*/) {
  return "Nodes 2\nConnections 1\n1->0 start 5 size 77\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace openmrc;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto sweep = sim::parse_sweep_file(text)) {
    FUZZ_CHECK(sweep->runs() <= sim::kSweepRunsMax);
  } else {
    FUZZ_CHECK(!to_string(sweep.error()).empty());
  }
  const auto scenario = sim::parse_scenario(text, "fuzz", read_file);
  if (!scenario) {
    FUZZ_CHECK(!scenario.error().empty());
    FUZZ_CHECK(!to_string(scenario.error()).empty());
    return 0;
  }
  const auto fabric = fabric::Fabric::make(scenario->shape);
  FUZZ_CHECK(fabric.has_value());
  FUZZ_CHECK(sim::check_workload(scenario->workload, *fabric).empty());
  return 0;
}
