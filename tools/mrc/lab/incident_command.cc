// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/lab/incident_command.h"

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "openmrc/fabric/names.h"
#include "openmrc/lab/incident.h"
#include "openmrc/lab/journal.h"
#include "openmrc/text/units.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/lab/cli.h"

namespace openmrc::tools {
namespace {

struct IncidentOptions {
  std::string lab;
  std::optional<std::int64_t> begin_ns;
  std::vector<std::string> flows;
};

// "h0:h2:1 GiB"
Result<lab::IncidentFlow, std::string> flow_from(const fabric::Fabric& fabric,
                                                 const std::string& text) {
  const std::size_t first = text.find(':');
  const std::size_t second = first == std::string::npos ? first : text.find(':', first + 1);
  if (second == std::string::npos) {
    return failure("--flow: expected FROM:TO:SIZE, e.g. h0:h2:1GiB, not '" + text + "'");
  }
  const auto from = parse_host(fabric, text.substr(0, first));
  if (!from) return failure("--flow: " + to_string(from.error()));
  const auto to = parse_host(fabric, text.substr(first + 1, second - first - 1));
  if (!to) return failure("--flow: " + to_string(to.error()));
  const auto bytes = text::parse_size(text.substr(second + 1));
  if (!bytes) return failure("--flow: " + bytes.error());
  if (*from == *to) return failure("--flow: '" + text + "' leads from a host to itself");
  return lab::IncidentFlow{.from = *from, .to = *to, .bytes = *bytes};
}

int write_incident(const IncidentOptions& options) {
  const auto spec = lab::load_chosen(options.lab);
  if (!spec) return complain("lab", spec.error());
  const auto journal = lab::read_journal(*spec);
  if (!journal) return complain("lab", journal.error());
  if (journal->empty() && !options.begin_ns) {
    return complain("lab", "nothing has happened in this lab; 'mrc lab cut' breaks something");
  }
  constexpr std::int64_t kBefore = 1'000'000'000;
  lab::Incident incident{.begin_ns = options.begin_ns.has_value()
                                         ? *options.begin_ns
                                         : journal->front().at_ns - kBefore};
  for (const std::string& text : options.flows) {
    const auto flow = flow_from(spec->fabric(), text);
    if (!flow) return complain("lab", flow.error());
    incident.flows.push_back(*flow);
  }
  const auto scenario = scenario_of(*spec, *journal, incident);
  if (!scenario) return complain("lab", scenario.error());
  std::cout << *scenario << std::flush;
  return 0;
}

}  // namespace

void add_incident_command(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<IncidentOptions>();
  CLI::App* command = parent.add_subcommand(
      "incident", "What happened to the links of a lab, as a scenario for 'mrc sim run'");
  lab::add_name(*command, options->lab);
  command
      ->add_option("--flow", options->flows,
                   "What was sent: host, host and bytes, as 16 messages of 256 KiB at a time. May "
                   "be repeated")
      ->type_name("FROM:TO:SIZE")
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->required();
  command
      ->add_option("--begin", options->begin_ns,
                   "When the traffic began, on CLOCK_MONOTONIC as 'mrc lab cut --json' prints it; "
                   "default a second before the first fault")
      ->type_name("NS");
  command->footer(
      "Example:\n"
      "  mrc lab incident --flow h0:h2:1GiB >incident.toml\n"
      "  mrc sim run incident.toml --host-config /run/openmrc/labs/lab/h0/openmrc.toml");
  command->callback([options, &exit_code] { exit_code = write_incident(*options); });
}

}  // namespace openmrc::tools
