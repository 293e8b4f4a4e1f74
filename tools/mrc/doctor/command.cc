// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/doctor/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "tools/mrc/colour.h"
#include "tools/mrc/doctor/findings.h"
#include "tools/mrc/doctor/fix.h"
#include "tools/mrc/doctor/report.h"

namespace openmrc::tools {
namespace doctor {

namespace {

struct Options {
  std::string config{};
  std::string peer{};
  bool json = false;
  bool fix = false;
};

// The configuration, if it is right; otherwise the machine is looked at as far as it needs none.
std::optional<host::Config> check_configuration(const Options& options, Findings& findings) {
  std::optional<std::filesystem::path> file;
  if (!options.config.empty()) file = options.config;
  const auto config = host::load_config(file);
  if (config) {
    findings.ok("configuration",
                fmt::format("{}: {}, mode {}, {} ports, {} EVs", config->file.string(),
                            config->name, datapath::name_of(config->mode), config->ports.size(),
                            config->transport.paths.evs));
    return *config;
  }
  for (const host::ConfigError& error : config.error()) {
    findings.fail("configuration", to_string(error), "see openmrc.toml(5)");
  }
  return std::nullopt;
}

Findings examine(const Options& options) {
  Findings findings;
  const auto config = check_configuration(options, findings);
  if (config) {
    check_lab(*config, findings);
    check_ports(*config, findings);
    check_routes(*config, findings);
    if (!options.peer.empty()) check_peer(*config, options.peer, findings);
  }
  const host::Config general = config.value_or(host::Config{});
  // What is changed is changed for all.
  check_sockets(general, options.fix ? BuffersFor::kEveryone : BuffersFor::kSelf, findings);
  check_traffic_class(general, findings);
  check_machine(general, findings);
  return findings;
}

Findings act(const Options& options) {
  const bool coloured = wants_colour(STDOUT_FILENO);
  const auto look = [&] { return examine(options); };
  Findings findings = options.fix ? fix(look, coloured) : look();
  std::cout << (options.json ? report_json(findings) : report_text(findings, coloured));
  return findings;
}

}  // namespace
}  // namespace doctor

void add_doctor_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<doctor::Options>();
  CLI::App* command = app.add_subcommand(
      "doctor",
      "Check that this machine is set up as its configuration requires, and how to fix it");
  command
      ->add_option("--config", options->config,
                   "Configuration file; default $OPENMRC_CONFIG or /etc/openmrc/openmrc.toml")
      ->type_name("FILE");
  command
      ->add_option("--peer", options->peer,
                   "Check the paths to this host as well: h3 of the fabric, or a name or address")
      ->type_name("HOST");
  CLI::Option* const json = command->add_flag("--json", options->json, "Print JSON");
  command
      ->add_flag("--fix", options->fix,
                 "List the commands that fix what is wrong, run them as root, and check again")
      ->excludes(json);
  command->callback([options, &exit_code] {
    const doctor::Findings findings = doctor::act(*options);
    exit_code = findings.count(doctor::Grade::kFail) > 0 ? 1 : 0;
  });
}

}  // namespace openmrc::tools
