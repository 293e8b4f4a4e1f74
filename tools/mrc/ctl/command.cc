// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/ctl/command.h"

#include <fmt/core.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "openmrc/agent/profiles/profile_names.h"
#include "openmrc/host/interrupt.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/ctl/agent.h"
#include "tools/mrc/ctl/set.h"
#include "tools/mrc/ctl/show.h"

namespace openmrc::tools {
namespace ctl {

int complain(const libmrc::Outcome& outcome) {
  tools::complain("ctl", outcome.why);
  return outcome.error == ENOTCONN || outcome.error == ETIMEDOUT ? kNoAgent : kRefused;
}

int complain(const std::string& what) {
  tools::complain("ctl", what);
  return kNoAgent;
}

namespace {

using Json = nlohmann::ordered_json;

void print_ev(const Options& options, const char* what, std::uint64_t profile,
              const libmrc::EvStatus& ev) {
  const std::string text = fmt::format("{}@{}", libmrc::hex_of(ev.ev.value), ev.ev.port.raw());
  if (options.json) {
    fmt::print("{}\n", Json{{"what", what},
                            {"profile", profile},
                            {"ev", text},
                            {"state", std::string(libmrc::name_of(ev.state))}}
                           .dump());
  } else {
    fmt::print("{:<8} profile {}  {}  {}\n", what, profile, text, libmrc::name_of(ev.state));
  }
}

void print_push(const Options& options, const libmrc::Push& push) {
  if (const auto* const changed = std::get_if<libmrc::EvsChanged>(&push)) {
    for (const libmrc::EvStatus& ev : changed->evs) print_ev(options, "set", changed->id.raw(), ev);
  } else if (const auto* const event = std::get_if<libmrc::EvEvent>(&push)) {
    if (event->lost > 0) fmt::print(stderr, "mrc ctl: {} events were lost\n", event->lost);
    print_ev(options, "event", event->id.raw(), event->seen);
  } else if (const auto* const port = std::get_if<libmrc::PortChanged>(&push)) {
    const char* const state = port->enabled ? "enabled" : "disabled";
    if (options.json) {
      fmt::print("{}\n",
                 Json{{"what", "port"}, {"port", port->port.raw()}, {"state", state}}.dump());
    } else {
      fmt::print("{:<8} {}  {}\n", "port", port->port.raw(), state);
    }
  }
  std::fflush(stdout);
}

// Until Ctrl-C. Goes on when the agent is started again.
int watch(const Options& options) {
  libmrc::AgentClient agent({.path = options.socket});
  const libmrc::Outcome found = agent.call(libmrc::QueryDevice{}).outcome;
  if (!found.ok()) return complain(found);
  host::catch_interrupts();
  agent.listen({.changes = true, .events = true},
               [&](const libmrc::Push& push) { print_push(options, push); });
  while (!host::interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return 0;
}

std::shared_ptr<Options> add_common(CLI::App& command, bool prints) {
  const auto options = std::make_shared<Options>();
  command
      .add_option("--socket", options->socket,
                  "Socket of mrcd; default $OPENMRC_AGENT or /run/openmrc/mrcd.sock")
      ->type_name("PATH");
  if (prints) command.add_flag("--json", options->json, "For programs");
  return options;
}

void add_views(CLI::App& ctl, int& exit_code) {
  CLI::App* ports = ctl.add_subcommand("ports", "List ports, and whether they are enabled");
  const auto of_ports = add_common(*ports, true);
  ports->callback([of_ports, &exit_code] { exit_code = show_ports(*of_ports); });

  CLI::App* profiles =
      ctl.add_subcommand("profiles", "List profiles, and the processes that use them");
  const auto of_profiles = add_common(*profiles, true);
  profiles->callback([of_profiles, &exit_code] { exit_code = show_profiles(*of_profiles); });

  CLI::App* show = ctl.add_subcommand("show", "Show the profiles with this number, with their EVs");
  const auto of_show = add_common(*show, true);
  const auto id = std::make_shared<std::uint64_t>();
  show->add_option("id", *id, "Number of the profile")->required()->type_name("ID");
  show->callback([of_show, id, &exit_code] { exit_code = show_profile(*of_show, *id); });

  CLI::App* command = ctl.add_subcommand("watch", "Print changes and events as they occur");
  const auto of_watch = add_common(*command, true);
  command->callback([of_watch, &exit_code] { exit_code = watch(*of_watch); });
}

void add_state(CLI::App& command, std::optional<std::string>& state) {
  command.add_option("--state", state, "Target state: INIT, OFFLINE or ONLINE")->type_name("STATE");
}

void add_set_port(CLI::App& set, int& exit_code) {
  CLI::App* command = set.add_subcommand("port", "Enable or disable a port");
  const auto options = add_common(*command, false);
  const auto setting = std::make_shared<PortSetting>();
  command->add_option("port", setting->port, "Its number, from 1")
      ->required()
      ->check(CLI::Range(1u, 255u).description(""))
      ->type_name("PORT");
  command->add_option("state", setting->state, "enabled or disabled")
      ->required()
      ->check(CLI::IsMember({"enabled", "disabled"}).description(""))
      ->type_name("STATE");
  command->callback([=, &exit_code] { exit_code = set_port(*options, *setting); });
}

void add_set_format(CLI::App& set, int& exit_code) {
  CLI::App* command = set.add_subcommand("format", "Create or change an EV format profile");
  const auto options = add_common(*command, false);
  const auto setting = std::make_shared<FormatSetting>();
  command->add_option("id", setting->id, "Number of the profile")->required()->type_name("ID");
  command->add_option("--mode", setting->mode, "STEV, SRV6 or UDP")->type_name("MODE");
  command->add_option("--widths", setting->widths, "Bits of its fields")
      ->delimiter(',')
      ->type_name("BITS");
  add_state(*command, setting->state);
  command->callback([=, &exit_code] { exit_code = set_format(*options, *setting); });
}

void add_set_ev(CLI::App& set, int& exit_code) {
  CLI::App* command = set.add_subcommand("ev", "Create or change an EV profile");
  const auto options = add_common(*command, false);
  const auto setting = std::make_shared<EvSetting>();
  command->add_option("id", setting->id, "Number of the profile")->required()->type_name("ID");
  command->add_option("--mode", setting->mode, "AUTO, EXP or GEN")->type_name("MODE");
  command->add_option("--format", setting->format, "Its format profile")->type_name("ID");
  command->add_option("--count", setting->count, "How many EVs")->type_name("N");
  command
      ->add_option("--min-active", setting->min_active,
                   "EVs that stay in use even if they lose packets")
      ->type_name("N");
  command
      ->add_option("--events", setting->events,
                   "State changes to report: GOOD, ASSUMED_BAD, or none")
      ->delimiter(',')
      ->type_name("STATES");
  command->add_option("--field", setting->fields, "BITS:INIT:MIN:MAX:MASK, for each field")
      ->type_name("FIELD");
  command->add_option("--ev", setting->evs, "EVs to add, as hexadecimal@port")->type_name("EV");
  add_state(*command, setting->state);
  command->callback([=, &exit_code] { exit_code = set_ev_profile(*options, *setting); });
}

void add_set_cc(CLI::App& set, int& exit_code) {
  CLI::App* command = set.add_subcommand("cc", "Create or change a congestion control profile");
  const auto options = add_common(*command, false);
  const auto setting = std::make_shared<CcSetting>();
  command->add_option("id", setting->id, "Number of the profile")->required()->type_name("ID");
  command->add_option("--algorithm", setting->algorithm, "uet-1.0-nscc, or none")
      ->type_name("NAME");
  command->add_option("--param", setting->parameters, "NAME=VALUE, as in mrc_ctl_cc_nscc_cfg")
      ->type_name("SETTING");
  add_state(*command, setting->state);
  command->callback([=, &exit_code] { exit_code = set_cc_profile(*options, *setting); });
}

void add_denial(CLI::App& ctl, bool deny, int& exit_code) {
  CLI::App* command =
      deny ? ctl.add_subcommand("deny", "Deny EVs of a profile to all processes that use it")
           : ctl.add_subcommand("allow", "Revoke a denial");
  const auto options = add_common(*command, false);
  const auto setting = std::make_shared<EvStateSetting>();
  setting->deny = deny;
  command->add_option("id", setting->id, "Number of the EV profile")->required()->type_name("ID");
  command->add_option("ev", setting->evs, "EVs, hexadecimal@port")->required()->type_name("EV");
  command->callback([=, &exit_code] { exit_code = set_ev_states(*options, *setting); });
}

}  // namespace
}  // namespace ctl

void add_ctl_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("ctl", "Show and set the ports and profiles of this node (mrcd)");
  command->require_subcommand(1, 1);
  ctl::add_views(*command, exit_code);
  CLI::App* set = command->add_subcommand("set", "Change a port or a profile");
  set->require_subcommand(1, 1);
  ctl::add_set_port(*set, exit_code);
  ctl::add_set_format(*set, exit_code);
  ctl::add_set_ev(*set, exit_code);
  ctl::add_set_cc(*set, exit_code);
  ctl::add_denial(*command, true, exit_code);
  ctl::add_denial(*command, false, exit_code);
  command->footer(
      "Exit code: 0 done, 1 rejected, 2 no agent or invalid command line.\n\n"
      "  mrc ctl set format 1 --mode STEV --widths 16,16 --state ONLINE\n"
      "  mrc ctl set ev 5 --mode GEN --format 1 --count 64 --field 16:0:0:65535:0xffff --state "
      "ONLINE\n"
      "  mrc ctl show 5\n"
      "  mrc ctl deny 5 4ac2@1\n");
}

}  // namespace openmrc::tools
