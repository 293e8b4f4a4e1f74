// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/doctor/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tools/mrc/doctor/findings.h"

namespace openmrc::tools {
namespace doctor {

std::size_t Findings::count(Grade grade) const {
  return static_cast<std::size_t>(std::ranges::count(all_, grade, &Finding::grade));
}

namespace {

struct Options {
  std::string config{};
  std::string peer{};
  bool json = false;
};

std::string_view name_of(Grade grade) {
  switch (grade) {
    case Grade::kOk: return "ok";
    case Grade::kWarn: return "warn";
    case Grade::kFail: return "fail";
  }
  return {};
}

std::string_view name_of(datapath::Mode mode) {
  switch (mode) {
    case datapath::Mode::kUdp: return "udp";
    case datapath::Mode::kUsid: return "usid";
    case datapath::Mode::kSrv6: return "srv6";
  }
  return {};
}

// The configuration, if it is right; otherwise the machine is looked at as far as it needs none.
std::optional<host::Config> check_configuration(const Options& options, Findings& findings) {
  std::optional<std::filesystem::path> file;
  if (!options.config.empty()) file = options.config;
  const auto config = host::load_config(file);
  if (config) {
    findings.ok(
        "configuration",
        fmt::format("{}: {}, mode {}, {} ports, {} EVs", config->file.string(), config->name,
                    name_of(config->mode), config->ports.size(), config->transport.paths.evs));
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
    check_ports(*config, findings);
    check_routes(*config, findings);
    if (!options.peer.empty()) check_peer(*config, options.peer, findings);
  }
  const host::Config general = config.value_or(host::Config{});
  check_sockets(general, findings);
  check_traffic_class(general, findings);
  check_machine(general, findings);
  return findings;
}

void print_text(const Findings& findings) {
  for (const Finding& finding : findings.all()) {
    std::cout << fmt::format("{:<4}  {}: {}{}{}\n", name_of(finding.grade), finding.check,
                             finding.found,
                             finding.remedy.empty() ? "" : "; fix: ", finding.remedy);
  }
  const auto count = [&](Grade grade) { return findings.count(grade); };
  std::cout << fmt::format("{} passed, {} warning{}, {} failed\n", count(Grade::kOk),
                           count(Grade::kWarn), count(Grade::kWarn) == 1 ? "" : "s",
                           count(Grade::kFail));
}

void print_json(const Findings& findings) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const Finding& finding : findings.all()) {
    list.push_back({{"grade", name_of(finding.grade)},
                    {"check", finding.check},
                    {"found", finding.found},
                    {"remedy", finding.remedy}});
  }
  const Json report{{"ok", findings.count(Grade::kOk)},
                    {"warn", findings.count(Grade::kWarn)},
                    {"fail", findings.count(Grade::kFail)},
                    {"findings", list}};
  std::cout << report.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
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
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, &exit_code] {
    const doctor::Findings findings = doctor::examine(*options);
    if (options->json) {
      doctor::print_json(findings);
    } else {
      doctor::print_text(findings);
    }
    exit_code = findings.count(doctor::Grade::kFail) > 0 ? 1 : 0;
  });
}

}  // namespace openmrc::tools
