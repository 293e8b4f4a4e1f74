// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/fabric/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "openmrc/fabric/check_plan.h"
#include "openmrc/fabric/names.h"
#include "openmrc/fabric/plan.h"
#include "openmrc/fabric/shape_keys.h"
#include "openmrc/profile/path_plan.h"
#include "openmrc/profile/transport_profile.h"
#include "openmrc/text/numbers.h"
#include "openmrc/text/toml.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/fabric/draw.h"
#include "tools/mrc/fabric/emit_command.h"
#include "tools/mrc/fabric/load.h"
#include "tools/mrc/fabric/text.h"
#include "tools/mrc/fabric/verify_command.h"

namespace openmrc::tools {
namespace {

using fabric::Fabric;
using fabric::HostIndex;
using fabric::UsidPlan;

CLI::Option* add_file(CLI::App& command, std::string& file) {
  return command
      .add_option("file", file,
                  "Fabric or scenario file (TOML), or a topology of htsim (.topo); - for standard "
                  "input")
      ->type_name("FILE");
}

template <class Number>
bool is_number(const std::string& text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end;
}

text::Value value_of(const std::string& text) {
  std::int64_t whole = 0;
  double fraction = 0;
  if (is_number(text, whole)) return {.data = whole};
  if (is_number(text, fraction)) return {.data = fraction};
  return {.data = text};
}

// A fabric without a file: the keys of one as options.
class ShapeOptions {
 public:
  void add_to(CLI::App& command) {
    constexpr std::array<std::array<const char*, 3>, 10> kCounts{{
        {"--planes", "planes", "Planes"},
        {"--switch-ports", "switch_ports", "Ports of a switch, for full bisection"},
        {"--racks", "racks", "Racks, one T0 of each plane in each; instead of --switch-ports"},
        {"--hosts-per-rack", "hosts_per_rack", "Hosts per rack: downlinks of a T0"},
        {"--uplinks", "uplinks", "Uplinks of a T0"},
        {"--links-per-t1", "links_per_t1", "Links of a T0 to each T1; default 1"},
        {"--pods", "pods", "Pods of a plane; with more than one there are three tiers"},
        {"--t1-uplinks", "t1_uplinks", "Uplinks of a T1, to T2s"},
        {"--host-link-gbps", "host_link_gbps", "Speed of a NIC port; default 100"},
        {"--uplink-gbps", "uplink_gbps",
         "Speed of a link between switches; default that of a NIC port"},
    }};
    for (const auto& [flag, key, help] : kCounts) {
      options_.emplace_back(key, command.add_option(flag, help)->type_name("N"));
    }
  }

  [[nodiscard]] bool any() const {
    return std::ranges::any_of(options_, [](const auto& o) { return !o.second->empty(); });
  }

  [[nodiscard]] Result<Fabric, std::string> fabric() const {
    text::Table keys;
    for (const auto& [key, option] : options_) {
      if (option->empty()) continue;
      keys.entries.push_back({.key = key, .value = value_of(option->as<std::string>())});
    }
    const auto shape = fabric::shape_from(keys);
    if (!shape) return failure(to_string(shape.error()));
    return Fabric::make(*shape).value();
  }

 private:
  std::vector<std::pair<const char*, CLI::Option*>> options_{};
};

struct PlanOptions {
  std::string file;
  ShapeOptions shape;
  std::string parts;
  std::string cables;
  bool json = false;
};

// Standard output has either the plan or the cables.
int write_cable_list(const Fabric& fabric, const fabric::Parts& parts, const std::string& output) {
  if (output == "-") {
    write_cables(fabric, parts, std::cout);
    return 0;
  }
  std::ofstream file(output);
  write_cables(fabric, parts, file);
  file << std::flush;
  return file ? 0 : complain("fabric", fmt::format("cannot write '{}'", output));
}

void print_plan(const Fabric& fabric, const std::optional<fabric::Parts>& parts, bool json) {
  const fabric::Plan plan = plan_of(fabric);
  if (!json) {
    std::cout << plan_table(fabric, plan);
    if (parts) std::cout << bill_table(fabric, plan, *parts);
    return;
  }
  nlohmann::ordered_json object = plan_json(fabric, plan);
  if (parts) object["bill"] = bill_json(fabric, plan, *parts);
  std::cout << object.dump(2) << '\n';
}

int plan(const PlanOptions& options) {
  if (options.file.empty() != options.shape.any()) {
    return complain("fabric",
                    "give either a FILE or a fabric by options; see mrc fabric plan --help");
  }
  const auto fabric = options.file.empty() ? options.shape.fabric() : load_fabric(options.file);
  if (!fabric) return complain("fabric", fabric.error());
  std::optional<fabric::Parts> parts;
  if (!options.parts.empty()) {
    auto loaded = load_parts(options.parts);
    if (!loaded) return complain("fabric", loaded.error());
    parts = *std::move(loaded);
  }
  if (options.cables != "-") print_plan(*fabric, parts, options.json);
  return options.cables.empty() ? 0 : write_cable_list(*fabric, *parts, options.cables);
}

void add_plan(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<PlanOptions>();
  CLI::App* command = parent.add_subcommand(
      "plan", "Switches, links, optics and the cost of failures, compared with one-plane designs");
  add_file(*command, options->file);
  options->shape.add_to(*command);
  CLI::Option* const parts =
      command
          ->add_option("--parts", options->parts,
                       "Parts file (TOML): power, cost and lengths of cables as well")
          ->type_name("FILE");
  command
      ->add_option("--cables", options->cables,
                   "Write every cable with its ends, length and part; - for standard output")
      ->type_name("FILE.csv")
      ->needs(parts);
  command->add_flag("--json", options->json, "One JSON object, for programs");
  command->footer(
      "Examples:\n"
      "  mrc fabric plan examples/fabrics/published.toml\n"
      "  mrc fabric plan examples/fabrics/small.toml --parts parts.toml --cables cables.csv\n"
      "  mrc fabric plan --planes 8 --switch-ports 512\n"
      "  mrc fabric plan --planes 4 --racks 64 --hosts-per-rack 32 --uplinks 16 --json");
  command->callback([options, &exit_code] { exit_code = plan(*options); });
}

struct PathOptions {
  std::string file;
  std::string source;
  std::string destination;
  std::string ev;
  std::string preset = "software";
};

// The EVs that the source draws, as its runtime and the simulator do.
int print_paths(const Fabric& fabric, HostIndex source, HostIndex destination,
                std::string_view preset) {
  const auto chosen = preset == "nic" ? profile::Preset::kNic : profile::Preset::kSoftware;
  const auto plan =
      profile::PathPlan::in_fabric(UsidPlan(fabric), source, profile::preset(chosen).paths);
  if (!plan) return complain("fabric", to_string(plan.error()));
  const core::EvProfile& evs = *plan->profiles()[plan->profile_to(destination)];
  std::cout << fmt::format("{:>4}  {:>12}  {}\n", "EV", "plane:uplink", "switches");
  for (std::size_t i = 0; i < evs.size(); ++i) {
    const core::EvIndex ev(static_cast<std::uint8_t>(i));
    const fabric::PathChoice choice = plan->choice(ev, destination);
    std::cout << fmt::format("{:>4}  {:>12}  {}\n", i,
                             fmt::format("{}:{}", choice.plane.raw(), choice.path),
                             plan->path_name(ev, destination));
  }
  return 0;
}

int print_path(const PathOptions& options) {
  const auto fabric = load_addressed_fabric(options.file);
  if (!fabric) return complain("fabric", fabric.error());
  const auto source = parse_host(*fabric, options.source);
  if (!source) return complain("fabric", to_string(source.error()));
  const auto destination = parse_host(*fabric, options.destination);
  if (!destination) return complain("fabric", to_string(destination.error()));
  if (options.ev.empty()) return print_paths(*fabric, *source, *destination, options.preset);
  const auto choice = parse_choice(*fabric, options.ev);
  if (!choice) return complain("fabric", to_string(choice.error()));
  std::cout << path_table(UsidPlan(*fabric), *source, *destination, *choice);
  return 0;
}

void add_path(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<PathOptions>();
  CLI::App* command =
      parent.add_subcommand("path", "The switches, links and uSIDs of a path, or all paths");
  add_file(*command, options->file)->required();
  command->add_option("source", options->source, "Host that sends, such as h17")
      ->type_name("HOST")
      ->required();
  command->add_option("destination", options->destination, "Host that receives")
      ->type_name("HOST")
      ->required();
  command
      ->add_option("ev", options->ev,
                   "Path: plane:uplink, such as 3:4, or the EV's number; without it, all EVs that "
                   "the source draws")
      ->type_name("EV");
  command->add_option("--preset", options->preset, "Without EV: how many it draws")
      ->check(CLI::IsMember({"nic", "software"}))
      ->option_text("nic|software [software]");
  command->footer(
      "Examples:\n"
      "  mrc fabric path examples/fabrics/published.toml h17 h70000 3:4\n"
      "  mrc fabric path examples/fabrics/small.toml h0 h5");
  command->callback([options, &exit_code] { exit_code = print_path(*options); });
}

struct DrawOptions {
  std::string file;
  std::string output;
};

int write_drawing(const DrawOptions& options) {
  const auto fabric = load_fabric(options.file);
  if (!fabric) return complain("fabric", fabric.error());
  const std::string picture = draw_fabric(*fabric);
  if (options.output == "-") {
    std::cout << picture;
    return 0;
  }
  std::ofstream file(options.output);
  file << picture << std::flush;
  return file ? 0 : complain("fabric", fmt::format("cannot write '{}'", options.output));
}

void add_draw(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<DrawOptions>();
  CLI::App* command =
      parent.add_subcommand("draw", "The fabric as a picture; a large one as a sample");
  add_file(*command, options->file)->required();
  command->add_option("-o,--output", options->output, "SVG file to write; - for standard output")
      ->type_name("FILE")
      ->required();
  command->callback([options, &exit_code] { exit_code = write_drawing(*options); });
}

struct CheckOptions {
  std::string file;
  std::uint64_t paths = 1'000'000;
  std::uint64_t seed = 1;
};

int check(const CheckOptions& options) {
  const auto fabric = load_addressed_fabric(options.file);
  if (!fabric) return complain("fabric", fabric.error());
  std::cout << one_line(*fabric) << '\n';
  const auto begin = std::chrono::steady_clock::now();
  const auto checked = check_plan(UsidPlan(*fabric), options.paths, options.seed);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  if (!checked) return complain("fabric", checked.error());
  std::cout << fmt::format(
      "  {:>11} uSIDs of switches, each unique\n"
      "  {:>11} uSIDs of hosts, each unique at its T0\n"
      "  {:>11} inner addresses, each leads back to its port\n"
      "  {:>11} random paths, seed {}: {} with three switches, {} with one; each in one plane,\n"
      "              followed by its carrier link by link, and read from it again\n"
      "All checks passed; {:.2f} s.\n",
      text::grouped(checked->switch_usids), text::grouped(checked->host_usids),
      text::grouped(checked->inner_addresses), text::grouped(checked->paths), options.seed,
      text::grouped(checked->paths_by_switches[3]), text::grouped(checked->paths_by_switches[1]),
      taken.count());
  return 0;
}

void add_check(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* command = parent.add_subcommand("check", "Verify the addresses and many random paths");
  add_file(*command, options->file)->required();
  command->add_option("--paths", options->paths, "Number of random paths; default 1000000")
      ->type_name("N");
  command->add_option("--seed", options->seed, "Seed of the random paths; default 1")
      ->type_name("N");
  command->callback([options, &exit_code] { exit_code = check(*options); });
}

}  // namespace

void add_fabric_command(CLI::App& app, int& exit_code) {
  CLI::App* command =
      app.add_subcommand("fabric", "Plan, draw, configure and verify a network of planes");
  command->require_subcommand(0, 1);
  command->callback([command, &exit_code] {
    if (!command->get_subcommands().empty()) return;
    std::cout << command->help("mrc");
    exit_code = 2;
  });
  add_plan(*command, exit_code);
  add_path(*command, exit_code);
  add_draw(*command, exit_code);
  add_check(*command, exit_code);
  add_emit_command(*command, exit_code);
  add_verify_command(*command, exit_code);
}

}  // namespace openmrc::tools
