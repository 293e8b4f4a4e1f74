// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/lab/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "openmrc/fabric/names.h"
#include "openmrc/host/interrupt.h"
#include "openmrc/lab/build.h"
#include "openmrc/lab/exec.h"
#include "openmrc/lab/faults.h"
#include "openmrc/lab/soft_switch.h"
#include "openmrc/lab/spec.h"
#include "openmrc/text/units.h"
#include "tools/mrc/colour.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/lab/capture_command.h"
#include "tools/mrc/lab/cli.h"
#include "tools/mrc/lab/demo/command.h"
#include "tools/mrc/lab/fault_command.h"
#include "tools/mrc/lab/incident_command.h"
#include "tools/mrc/lab/view.h"

namespace openmrc::tools {
namespace {

using lab::add_lab_option;
using lab::add_name;
using lab::as_root;
using lab::Spec;

struct UpOptions {
  std::string name;
  std::uint32_t planes = 4;
  std::uint32_t t0 = 2;
  std::uint32_t t1 = 2;
  std::uint32_t hosts = 4;
  std::string rate;
  std::uint32_t mtu = 9000;
  int ip = 6;
  std::string mode;  // empty: what suits the IP version
  std::string switches = "kernel";
  std::string source = "lab";
  bool dry_run = false;
};

Result<Spec, std::string> spec_of(const UpOptions& options) {
  Spec spec{.name = lab::usual_name(options.name),
            .shape = {},
            .bits_per_second = {},
            .mtu = options.mtu};
  spec.ip = static_cast<wire::IpVersion>(options.ip);
  const lab::Mode usual = options.ip == 4 ? lab::Mode::kUdp : lab::Mode::kSrv6;
  spec.mode = options.mode.empty() ? usual : *lab::mode_named(options.mode);
  spec.switches = *lab::switches_named(options.switches);
  spec.source = *lab::source_named(options.source);
  if (options.t0 == 0 || options.hosts % options.t0 != 0) {
    return failure(fmt::format(
        "{} hosts cannot be divided evenly among {} T0s: --hosts counts those of all racks",
        options.hosts, options.t0));
  }
  spec.shape.planes = options.planes;
  spec.shape.racks = options.t0;
  spec.shape.hosts_per_rack = options.hosts / options.t0;
  spec.shape.uplinks = options.t0 == 1 ? 0 : options.t1;
  if (!options.rate.empty()) {
    const auto rate = text::parse_bit_rate(options.rate);
    if (!rate) return failure(rate.error());
    if (*rate == 0) return failure(std::string("the rate must be above 0"));
    spec.bits_per_second = static_cast<std::int64_t>(*rate);
    spec.shape.host_link_bits_per_second = *spec.bits_per_second;
    spec.shape.uplink_bits_per_second = *spec.bits_per_second;
  }
  if (auto result = check(spec); !result) return failure(std::move(result.error()));
  return spec;
}

int up(const Spec& spec) {
  const auto built = build(spec);
  if (!built) return complain("lab", built.error());
  if (*built == lab::Built::kThere) {
    std::cout << fmt::format("The lab '{}' already exists; its links are healed.\n", spec.name);
  } else if (*built == lab::Built::kRebuilt) {
    std::cout << fmt::format("Parts of the lab '{}' were missing; it was rebuilt.\n", spec.name);
  }
  std::cout << fmt::format("lab '{}': {}\n\n{}\n{}", spec.name, describe(spec),
                           draw(spec, states_of(spec)), next_steps(spec));
  return 0;
}

void add_up(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<UpOptions>();
  CLI::App* command = parent.add_subcommand("up", "Build a lab, or repair an existing one");
  add_name(*command, options->name);
  command->add_option("--planes", options->planes, "Number of planes; default 4")->type_name("N");
  command->add_option("--t0", options->t0, "T0 switches per plane; default 2")->type_name("N");
  command->add_option("--t1", options->t1, "T1 switches per plane; default 2")->type_name("N");
  command->add_option("--hosts", options->hosts, "Hosts in all racks; default 4")->type_name("N");
  command->add_option("--rate", options->rate, "Rate of every link, e.g. 1gbit; default unlimited")
      ->type_name("RATE");
  command->add_option("--mtu", options->mtu, "MTU of every link; default 9000")->type_name("BYTES");
  command->add_option("--ip", options->ip, "IP version, 4 or 6; default 6. 4: no IPv6 at all")
      ->check(CLI::IsMember({4, 6}))
      ->type_name("VERSION");
  command->add_option("--mode", options->mode, "Transport mode of hosts: srv6, usid, udp or xdp")
      ->check(CLI::IsMember({"srv6", "usid", "udp", "xdp"}))
      ->type_name("MODE");
  command
      ->add_option(
          "--switch", options->switches,
          "Forwarding: kernel, soft, or soft-outer, which marks and trims as hardware does")
      ->check(CLI::IsMember({"kernel", "soft", "soft-outer"}))
      ->type_name("KIND");
  command
      ->add_option("--from", options->source,
                   "Configuration: lab, or what mrc fabric emit writes for iproute2 or frr")
      ->check(CLI::IsMember({"lab", "iproute2", "frr"}))
      ->type_name("SOURCE");
  command->add_flag("--dry-run", options->dry_run, "Print the commands as a shell script instead");
  command->footer(
      "Examples:\n"
      "  sudo mrc lab up\n"
      "  sudo mrc lab up slow --rate 100mbit\n"
      "  sudo mrc lab up four --planes 2 --ip 4\n"
      "  mrc lab up --planes 2 --t0 1 --hosts 2 --dry-run");
  command->callback([options, &exit_code] {
    const auto spec = spec_of(*options);
    if (!spec) {
      exit_code = complain("lab", spec.error());
    } else if (options->dry_run) {
      std::cout << script_of(*spec);
    } else {
      as_root(exit_code, [&] { return up(*spec); });
    }
  });
}

struct DownOptions {
  std::string name;
  bool all = false;
};

int down(const DownOptions& options) {
  const auto there = lab::labs_there();
  const std::string chosen = lab::usual_name(options.name);
  if (!options.all && !lab::is_lab_name(chosen)) {
    return complain("lab", fmt::format("invalid lab name '{}'", chosen));
  }
  if (!options.all && std::ranges::find(there, chosen) == there.end()) {
    std::cout << fmt::format("No lab '{}'.{}\n", chosen,
                             there.empty() ? "" : " Others are there: mrc lab list.");
    return 0;
  }
  for (const std::string& name : options.all ? there : std::vector{chosen}) {
    if (host::interrupted())
      return complain("lab", "interrupted; 'mrc lab list' shows what is left");
    if (const auto removed = lab::remove(name); !removed) return complain("lab", removed.error());
    std::cout << fmt::format("The lab '{}' is removed.\n", name);
  }
  return 0;
}

void add_down(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<DownOptions>();
  CLI::App* command = parent.add_subcommand("down", "Terminate what runs in a lab, and remove it");
  add_name(*command, options->name);
  command->add_flag("--all", options->all, "All labs");
  command->callback([options, &exit_code] { as_root(exit_code, [&] { return down(*options); }); });
}

void add_list(CLI::App& parent) {
  CLI::App* command = parent.add_subcommand("list", "List labs");
  command->callback([] {
    for (const std::string& name : lab::labs_there()) {
      const auto spec = lab::load(name);
      std::cout << fmt::format("{:<12} {}\n", name,
                               spec ? describe(*spec) : "incomplete lab; mrc lab down removes it");
    }
  });
}

struct ViewOptions {
  std::string name;
  bool json = false;
};

int status(const ViewOptions& options) {
  const auto spec = lab::load_chosen(options.name);
  if (!spec) return complain("lab", spec.error());
  const auto states = states_of(*spec);
  std::cout << (options.json ? status_json(*spec, states)
                             : status_text(*spec, states, tools::wants_colour(STDOUT_FILENO)));
  return 0;
}

int picture(const ViewOptions& options) {
  const auto spec = lab::load_chosen(options.name);
  if (!spec) return complain("lab", spec.error());
  std::cout << draw(*spec, states_of(*spec));
  return 0;
}

void add_views(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<ViewOptions>();
  CLI::App* command = parent.add_subcommand("status", "What is up, cut, lossy, silent or flapping");
  add_name(*command, options->name);
  command->add_flag("--json", options->json, "One JSON object, for programs");
  command->callback(
      [options, &exit_code] { as_root(exit_code, [&] { return status(*options); }); });
  const auto drawn = std::make_shared<ViewOptions>();
  command = parent.add_subcommand("draw", "A picture of the lab, with what is broken");
  add_name(*command, drawn->name);
  command->callback([drawn, &exit_code] { as_root(exit_code, [&] { return picture(*drawn); }); });
}

struct ExecOptions {
  std::string lab;
  std::string host;
};

void add_exec(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<ExecOptions>();
  CLI::App* command = parent.add_subcommand("exec", "Run a program on a host of the lab");
  add_lab_option(*command, options->lab);
  command->add_option("host", options->host, "Host, such as h0")->type_name("HOST")->required();
  command->prefix_command();
  parent.prefix_command();  // which gets what stands behind `--`
  command->footer(
      "All that follows HOST is the program and its arguments. It sees the host's network, other\n"
      "hosts by name, $OPENMRC_CONFIG and $OPENMRC_AGENT. Examples:\n"
      "  sudo mrc lab exec h1 mrc perf write-bw\n"
      "  sudo mrc lab exec h0 ping -c 3 h1");
  command->callback([options, command, &parent, &exit_code] {
    as_root(exit_code, [&] {
      std::vector<std::string> words = command->remaining();
      std::ranges::move(parent.remaining(), std::back_inserter(words));
      words.insert(words.begin(), options->host);
      lab::take_name(options->lab, words);
      const auto spec = lab::load_chosen(options->lab);
      if (!spec) return complain("lab", spec.error());
      if (words.empty()) return complain("lab", "name a host, such as h0");
      const auto host = parse_host(spec->fabric(), words.front());
      const std::vector<std::string> program(words.begin() + 1, words.end());
      if (!host) return complain("lab", to_string(host.error()));
      return complain("lab", lab::execute(*spec, *host, program));  // it does not come back
    });
  });
}

// Not for people: `up --switch soft` starts it.
void add_soft_switch(CLI::App& parent, int& exit_code) {
  const auto name = std::make_shared<std::string>();
  CLI::App* command = parent.add_subcommand("soft-switch", "The switches of a lab")->group("");
  add_name(*command, *name);
  command->callback([name, &exit_code] {
    as_root(exit_code, [&] {
      const auto spec = lab::load_spec(*name);
      return spec ? be_soft_switch(*spec) : complain("lab", spec.error());
    });
  });
}

}  // namespace

void add_lab_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("lab", "Build a network of planes on this machine, and break it");
  command->require_subcommand(0, 1);
  command->callback([command, &exit_code] {
    if (!command->get_subcommands().empty()) return;
    exit_code = 2;
    if (const auto unknown = command->remaining(); !unknown.empty()) {
      std::cerr << fmt::format("mrc: unknown command '{}'\nTry 'mrc lab --help'.\n",
                               unknown.front());
      return;
    }
    std::cout << command->help("mrc");
  });
  add_demo_command(*command, exit_code);
  add_up(*command, exit_code);
  add_views(*command, exit_code);
  add_exec(*command, exit_code);
  add_fault_commands(*command, exit_code);
  add_incident_command(*command, exit_code);
  add_capture_command(*command, exit_code);
  add_list(*command);
  add_down(*command, exit_code);
  add_soft_switch(*command, exit_code);
}

}  // namespace openmrc::tools
