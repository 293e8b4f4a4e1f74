// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/lab/fault_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/fabric/names.h"
#include "openmrc/lab/build.h"
#include "openmrc/lab/chaos.h"
#include "openmrc/lab/faults.h"
#include "openmrc/lab/layout.h"
#include "openmrc/text/units.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/lab/cli.h"

namespace openmrc::tools {
namespace {

using fabric::LinkId;
using lab::add_lab_option;
using lab::as_root;
using lab::Fault;
using lab::Moment;
using lab::Spec;

struct FaultOptions {
  std::string lab;
  std::vector<std::string> what;
  bool admin = false;
  bool silent = false;
  std::string loss;
  bool json = false;
};

// The links of all that was named, each once.
Result<std::vector<LinkId>, std::string> links_named(const Spec& spec,
                                                     const std::vector<std::string>& names) {
  std::vector<LinkId> links;
  for (const std::string& name : names) {
    const auto element = parse_element(spec.fabric(), name);
    if (!element) return failure(to_string(element.error()));
    for (const LinkId& link : lab::links_of(spec.fabric(), *element)) {
      if (std::ranges::find(links, link) == links.end()) links.push_back(link);
    }
  }
  return links;
}

Result<Fault, std::string> fault_of(const FaultOptions& options, const std::vector<LinkId>& links) {
  Fault fault;
  if (options.admin) {
    const auto is_uplink = [](const LinkId& l) { return l.kind == LinkId::Kind::kUplink; };
    if (options.silent || !options.loss.empty() || std::ranges::any_of(links, is_uplink)) {
      return failure(std::string(
          "--admin sets ports of hosts down: name a host or a port (h0 or h0/p2), and no loss"));
    }
    fault.kind = Fault::Kind::kPort;
  } else if (options.silent || !options.loss.empty()) {
    fault.kind = Fault::Kind::kSilent;
    if (!options.loss.empty()) {
      const auto share = text::parse_share(options.loss);
      if (!share) return failure("--loss: " + share.error());
      fault.loss = *share / (text::kShareOne / lab::kAllPackets);
      if (fault.loss == 0) return failure(std::string("--loss: must be at least 0.01%"));
    }
  }
  return fault;
}

void print_moment(bool json, std::string_view done, const std::vector<LinkId>& links,
                  const Moment& moment) {
  if (json) {
    nlohmann::ordered_json out{{"did", done},
                               {"began_ns", moment.began_ns},
                               {"done_ns", moment.done_ns},
                               {"links", nlohmann::ordered_json::array()}};
    for (const LinkId& link : links) out["links"].push_back(name_of(link));
    std::cout << out.dump() << '\n';
    return;
  }
  std::string names;
  constexpr std::size_t kNamed = 4;
  for (std::size_t i = 0; i < links.size() && i < kNamed; ++i) {
    names += (i == 0 ? "" : ", ") + name_of(links[i]);
  }
  if (links.empty()) names = "no link was broken; all were set up again";
  if (links.size() > kNamed) names += fmt::format(" and {} more", links.size() - kNamed);
  std::cout << fmt::format("{}: {} in {:.1f} ms, done at {} ns\n", done, names,
                           static_cast<double>(moment.done_ns - moment.began_ns) / 1e6,
                           moment.done_ns);
}

// Those that something is wrong with.
std::vector<LinkId> broken_of(const Spec& spec, std::vector<LinkId> links) {
  const lab::LinkStates states = states_of(spec);
  std::erase_if(
      links, [&](const LinkId& link) { return states.at(link).condition == lab::Condition::kUp; });
  return links;
}

int cut(FaultOptions options) {
  lab::take_name(options.lab, options.what);
  if (options.what.empty()) return complain("lab", "name what to cut, such as p2 or h0/p2");
  const auto spec = lab::load_chosen(options.lab);
  if (!spec) return complain("lab", spec.error());
  const auto links = links_named(*spec, options.what);
  if (!links) return complain("lab", links.error());
  const auto fault = fault_of(options, *links);
  if (!fault) return complain("lab", fault.error());
  const auto moment = inflict(*spec, *links, *fault);
  if (!moment) return complain("lab", moment.error());
  print_moment(options.json, "cut", *links, *moment);
  return 0;
}

int heal(FaultOptions options) {
  lab::take_name(options.lab, options.what);
  const auto spec = lab::load_chosen(options.lab);
  if (!spec) return complain("lab", spec.error());
  auto links = links_named(*spec, options.what);
  if (!links) return complain("lab", links.error());
  if (options.what.empty()) links = lab::all_links(spec->fabric());
  // All are set up again, because more may have been changed by hand than is seen.
  const std::vector<LinkId> broken = broken_of(*spec, *links);
  const auto moment = heal(*spec, *links);
  if (!moment) return complain("lab", moment.error());
  print_moment(options.json, "healed", broken, *moment);
  return 0;
}

void add_cut(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<FaultOptions>();
  CLI::App* command = parent.add_subcommand("cut", "Break links, switches, planes or ports");
  add_lab_option(*command, options->lab);
  command
      ->add_option("target", options->what,
                   "Link p2.t0-1/up0, switch p2.t1-0, plane p2, host h0 or port h0/p2")
      ->type_name("WHAT")
      ->required();
  command->add_flag("--admin", options->admin,
                    "Set the host's own port administratively down, instead of pulling its cable");
  command->add_flag("--silent", options->silent, "Drop all packets silently: the carrier stays up");
  command
      ->add_option("--loss", options->loss,
                   "Drop only this share of packets, at random, e.g. 20% or 0.2")
      ->type_name("SHARE");
  command->add_flag("--json", options->json, "The time it took effect, for programs");
  command->footer(
      "Examples:\n"
      "  sudo mrc lab cut p2\n"
      "  sudo mrc lab cut p0.t0-1/up0 p1.t1-1\n"
      "  sudo mrc lab cut h0/p3 --loss 20%");
  command->callback([options, &exit_code] { as_root(exit_code, [&] { return cut(*options); }); });
}

void add_heal(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<FaultOptions>();
  CLI::App* command =
      parent.add_subcommand("heal", "Undo faults: all, or those of the given targets");
  add_lab_option(*command, options->lab);
  command->add_option("target", options->what, "As for cut; default everything")->type_name("WHAT");
  command->add_flag("--json", options->json, "The time it took effect, for programs");
  command->callback([options, &exit_code] { as_root(exit_code, [&] { return heal(*options); }); });
}

struct FlapOptions {
  std::string lab;
  std::vector<std::string> link;  // behind the name of the lab, or alone
  double hz = 10;
  std::string span = "5s";
};

int flap_link(FlapOptions options) {
  constexpr double kHzMax = 50;  // beyond it a heal takes longer than half a turn
  lab::take_name(options.lab, options.link);
  if (options.link.size() != 1) return complain("lab", "name one link, such as h0/p2");
  const auto spec = lab::load_chosen(options.lab);
  if (!spec) return complain("lab", spec.error());
  const auto link = parse_link(spec->fabric(), options.link.front());
  if (!link) return complain("lab", to_string(link.error()));
  const auto span = text::parse_duration(options.span);
  if (!span) return complain("lab", span.error());
  if (!(options.hz > 0 && options.hz <= kHzMax)) {
    return complain("lab", fmt::format("--hz must be above 0 and at most {}", kHzMax));
  }
  const auto cuts = flap(*spec, *link, options.hz, *span);
  if (!cuts) return complain("lab", cuts.error());
  std::cout << fmt::format("{} was cut and healed {} times\n", name_of(*link), *cuts);
  return 0;
}

void add_flap(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<FlapOptions>();
  CLI::App* command =
      parent.add_subcommand("flap", "Cut and heal a link in turn; it is healed at the end");
  add_lab_option(*command, options->lab);
  command->add_option("link", options->link, "Link, such as p2.t0-1/up0 or h0/p2")
      ->expected(1, 2)
      ->type_name("LINK")
      ->required();
  command->add_option("--hz", options->hz, "Flaps per second; default 10")->type_name("N");
  command->add_option("--for", options->span, "Duration; default 5s")->type_name("TIME");
  command->callback(
      [options, &exit_code] { as_root(exit_code, [&] { return flap_link(*options); }); });
}

struct ChaosOptions {
  std::string lab;
  std::uint64_t seed = 1;
  std::string span = "60s";
  bool json = false;
  bool dry_run = false;
};

void print_event(bool json, const lab::ChaosEvent& event) {
  if (json) {
    const nlohmann::ordered_json out{{"did", event.healed ? "healed" : "cut"},
                                     {"target", name_of(event.fault.what)},
                                     {"fault", to_string(event.fault)},
                                     {"began_ns", event.moment.began_ns},
                                     {"done_ns", event.moment.done_ns}};
    std::cout << out.dump() << '\n' << std::flush;
  } else if (!event.healed) {
    std::cout << fmt::format("{:9.3f} s  {}", static_cast<double>(event.fault.at.raw()) / 1e9,
                             to_string(event.fault))
              << '\n'
              << std::flush;  // for those who watch
  }
}

int chaos(const ChaosOptions& options) {
  const auto spec = lab::load_chosen(options.lab);
  if (!spec) return complain("lab", spec.error());
  if (spec->shape.planes < 2)
    return complain("lab", "chaos keeps one plane intact: it needs a lab with at least two");
  const auto span = text::parse_duration(options.span);
  if (!span) return complain("lab", span.error());
  const auto faults = draw_chaos(*spec, options.seed, *span);
  const auto report = [&](const lab::ChaosEvent& event) { print_event(options.json, event); };
  if (options.dry_run) {
    for (const lab::ChaosFault& fault : faults) print_event(false, {fault, false, {}});
    return 0;
  }
  const auto played = play_chaos(*spec, faults, *span, report);
  return played ? 0 : complain("lab", played.error());
}

void add_chaos(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<ChaosOptions>();
  CLI::App* command = parent.add_subcommand(
      "chaos",
      "Inject random faults; at least one plane is intact at any time, and all at the end");
  lab::add_name(*command, options->lab);
  command->add_option("--seed", options->seed, "Seed of the faults; default 1")->type_name("N");
  command->add_option("--for", options->span, "Duration; default 60s")->type_name("TIME");
  command->add_flag("--json", options->json, "A JSON object a line, for programs");
  command->add_flag("--dry-run", options->dry_run, "Print the faults without injecting them");
  command->callback([options, &exit_code] { as_root(exit_code, [&] { return chaos(*options); }); });
}

}  // namespace

void add_fault_commands(CLI::App& parent, int& exit_code) {
  add_cut(parent, exit_code);
  add_heal(parent, exit_code);
  add_flap(parent, exit_code);
  add_chaos(parent, exit_code);
}

}  // namespace openmrc::tools
