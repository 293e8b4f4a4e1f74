// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/make_result.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "openmrc/host/interrupt.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/sim/files.h"
#include "tools/mrc/sim/one_run.h"
#include "tools/mrc/sim/prepare.h"

namespace openmrc::tools {

int make_result(const sim::RunInputs& inputs, const std::string& path, std::size_t threads) {
  auto scenario = parse_inputs(inputs);
  if (!scenario) return complain("sim", scenario.error());
  const auto prepared = prepare_run({std::move(*scenario), inputs});
  if (!prepared) return complain("sim", prepared.error());
  const Run run = run_one(prepared->scenario,
                          {.threads = threads_for(prepared->scenario, threads), .quiet = true});
  if (host::interrupted()) return host::interrupt_exit_code();
  const std::string problem = write_whole(path, result_file(run.result, inputs));
  if (!problem.empty()) return complain("sim", problem);
  const std::string gap = check_packet_accounting(run.result.totals);
  if (gap.empty()) return 0;
  return complain("sim", fmt::format("{}: packet accounting inconsistent: {}", path, gap));
}

}  // namespace openmrc::tools
