// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/prepare.h"

#include <fmt/format.h>

#include <utility>
#include <variant>

#include "openmrc/host/config.h"
#include "openmrc/sim/host_limits.h"
#include "openmrc/sim/result/result_json.h"
#include "openmrc/text/file_limits.h"
#include "tools/mrc/read_file.h"
#include "tools/mrc/sim/baseline.h"

namespace openmrc::tools {
namespace {

using sim::Scenario;

// Gives every host the [transport] of a host's configuration.
Result<void, std::string> take_host_config(const std::string& text, Scenario& scenario) {
  if (text.empty()) return {};
  auto* mrc = std::get_if<sim::MrcTransport>(&scenario.transport);
  if (mrc == nullptr) return failure(std::string("--host-config needs a scenario with MRC"));
  const auto config = host::parse_config(text);
  if (!config) return failure("host configuration: " + text::to_string(config.error()));
  if (const auto fits = sim::check_evs(config->transport.paths, scenario.shape.planes); !fits) {
    return failure(fmt::format("host configuration: transport.evs: {}", fits.error()));
  }
  mrc->profile = config->transport;
  return {};
}

}  // namespace

std::string transport_of(const Scenario& scenario) {
  return std::holds_alternative<sim::RcTransport>(scenario.transport) ? "rc" : "mrc";
}

Result<PreparedRun, std::string> prepare_run(LoadedScenario loaded) {
  Scenario scenario = loaded.scenario;
  const std::string& transport = loaded.inputs.transport;
  if (transport == "mrc" && transport_of(scenario) != "mrc") {
    scenario.transport = sim::MrcTransport{};
  }
  if (const auto taken = take_host_config(loaded.inputs.host_config, scenario); !taken) {
    return failure(taken.error());
  }
  if (transport == "rc") scenario = as_rc(std::move(scenario));
  if (const auto fits = sim::check_host_limits(scenario); !fits) return failure(fits.error());
  return PreparedRun{std::move(loaded.inputs), std::move(loaded.scenario), std::move(scenario)};
}

std::string program_name() { return "mrc " OPENMRC_VERSION; }

std::string maker_of(const std::string& result_path) {
  const auto text = read_file(result_path, text::kJsonBytesMax);
  const auto origin = text ? sim::read_origin(*text) : failure(text.error());
  return origin && *origin ? (*origin)->program : "another program";
}

std::string result_file(const sim::RunResult& result, const sim::RunInputs& inputs) {
  const sim::Origin origin{.program = program_name(), .inputs = inputs};
  return sim::write_result_json(result, &origin);
}

std::string text_of(const sim::RunInputs& inputs) {
  std::string text = inputs.scenario;
  for (const std::string& setting : inputs.settings) text += fmt::format("# --set {}\n", setting);
  return text;
}

}  // namespace openmrc::tools
