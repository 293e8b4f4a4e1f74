// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/pysim/prepare.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "openmrc/sim/host_limits.h"
#include "openmrc/text/file_error.h"

namespace openmrc::pysim {
namespace {

// A window of a small fabric is over before several threads have met.
std::size_t threads_for(const sim::Scenario& scenario) {
  constexpr std::size_t kHostsPerThread = 32;
  const std::size_t hosts = std::size_t{scenario.shape.racks} * scenario.shape.hosts_per_rack;
  const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
  return std::clamp<std::size_t>(hosts / kHostsPerThread, 1, processors);
}

}  // namespace

Result<Prepared, std::string> prepare(const RunArguments& arguments) {
  Prepared prepared;
  prepared.inputs = {
      .name = arguments.name, .scenario = arguments.text, .settings = arguments.settings};
  const auto read = [&](const std::string& name) -> Result<std::string, std::string> {
    return prepared.inputs.files[name] = arguments.read_file(name);
  };
  auto scenario = sim::parse_scenario(arguments.text, arguments.name, read,
                                      {.seed = arguments.seed, .settings = arguments.settings});
  if (!scenario) {
    for (text::FileError& error : scenario.error()) error.file = arguments.name;
    return failure(to_string(scenario.error()));
  }
  prepared.scenario = std::move(*scenario);
  prepared.inputs.seed = prepared.scenario.seed;
  if (const auto fits = sim::check_host_limits(prepared.scenario); !fits) {
    return failure(fits.error());
  }
  if (arguments.series) {
    auto series = sim::read_request(*arguments.series, prepared.scenario);
    if (!series) return failure(series.error());
    prepared.series = std::move(*series);
  }
  prepared.threads = arguments.threads == 0 ? threads_for(prepared.scenario) : arguments.threads;
  return prepared;
}

}  // namespace openmrc::pysim
