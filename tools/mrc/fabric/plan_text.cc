// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "openmrc/text/numbers.h"
#include "tools/mrc/fabric/plan_columns.h"
#include "tools/mrc/fabric/text.h"

namespace openmrc::tools {
namespace {

using fabric::Design;
using fabric::Plan;

constexpr std::string_view kNone = "-";

std::string share_text(double share) {
  if (share == 0) return std::string(kNone);
  return share == 1 ? "all" : fmt::format("{:.3g} %", 100 * share);
}

void add_parts(PlanTable& table, const Plan& plan) {
  table.row("planes", [](const Design& d) { return fmt::to_string(d.planes); });
  table.row("tiers", [](const Design& d) { return fmt::to_string(d.switches.size()); });
  table.row("hosts", [](const Design& d) { return text::grouped(d.hosts); });
  table.row("switches", [](const Design& d) { return text::grouped(d.switches_total()); });
  std::size_t tiers = 0;
  for (const Design* column : columns_of(plan)) tiers = std::max(tiers, column->switches.size());
  for (std::size_t tier = 0; tier < tiers; ++tier) {
    table.row(fmt::format("  T{}", tier), [&](const Design& d) {
      return tier < d.switches.size() ? text::grouped(d.switches[tier]) : std::string(kNone);
    });
  }
  table.row("links, NIC to T0", [](const Design& d) { return text::grouped(d.host_links); });
  table.row("links between switches",
            [](const Design& d) { return text::grouped(d.switch_links); });
  table.row(fmt::format("transceivers of {}", text::human_rate(plan.fabric.host_bits_per_second)),
            [](const Design& d) { return text::grouped(d.transceivers); });
  const auto per_host = [](const Design& d, std::uint64_t count, double hosts) {
    return fmt::format("{:.1f}", hosts * static_cast<double>(count) / static_cast<double>(d.hosts));
  };
  table.row("switches per 1,000 hosts",
            [&](const Design& d) { return per_host(d, d.switches_total(), 1000); });
  table.row("transceivers per host",
            [&](const Design& d) { return per_host(d, d.transceivers, 1); });
}

void add_reach(PlanTable& table) {
  table.row("longest path, in switches",
            [](const Design& d) { return fmt::to_string(d.longest_path); });
  table.row("hosts at one T0", [](const Design& d) { return text::grouped(d.hosts_per_t0); });
  table.row("bisection bandwidth",
            [](const Design& d) { return text::human_rate(d.bisection_bits_per_second); });
  table.row("oversubscription of a T0",
            [](const Design& d) { return fmt::format("{:.3g}", d.oversubscription); });
}

bool has_t2(const Plan& plan) { return plan.fabric.switches.size() > 2; }

void add_losses(PlanTable& table, const Plan& plan) {
  table.heading("One failure takes, of the bandwidth of each host that it touches");
  table.row("  NIC port", [](const Design& d) { return share_text(d.loss.nic_port); });
  table.row("  T0", [](const Design& d) { return share_text(d.loss.t0); });
  table.row("  T1", [](const Design& d) { return share_text(d.loss.t1); });
  if (has_t2(plan)) table.row("  T2", [](const Design& d) { return share_text(d.loss.t2); });
  table.row("  T0-T1 link", [](const Design& d) { return share_text(d.loss.uplink); });
  table.row("    of its T0's uplinks in the plane",
            [](const Design& d) { return share_text(d.loss.uplink_of_t0); });
}

struct Ratios {
  double switches = 0;
  double optics = 0;
};

// What the fabric takes per host, as a share of what the other takes.
Ratios per_host(const Design& fabric, const Design& other) {
  const double hosts = static_cast<double>(other.hosts) / static_cast<double>(fabric.hosts);
  return {
      hosts * static_cast<double>(fabric.switches_total()) /
          static_cast<double>(other.switches_total()),
      hosts * static_cast<double>(fabric.transceivers) / static_cast<double>(other.transceivers)};
}

// What is compared has full bisection: with fewer uplinks less is bought, and less is there.
std::string caveat(const Plan& plan) {
  const double times = plan.fabric.oversubscription;
  if (times <= 1) return {};
  const Ratios ratios = per_host(plan.fabric, *plan.same_hosts);
  return fmt::format(
      "But this fabric is oversubscribed {0:.3g} : 1, and the others are not: between racks it "
      "has\n"
      "1/{0:.3g} of their bandwidth. For the same bandwidth between halves it takes {1:.2f} of "
      "the\n"
      "switches and {2:.2f} of the optics of one plane with as many hosts.\n",
      times, ratios.switches * times, ratios.optics * times);
}

std::string comparison(const Plan& plan) {
  if (!plan.three_tiers || !plan.same_hosts) {
    return fmt::format("\nNo comparison: a switch of {} does not have four ports of {}.\n",
                       text::human_rate(plan.switch_bits_per_second),
                       text::human_rate(plan.fabric.host_bits_per_second));
  }
  const auto line = [&](const Design& other, std::string_view what) {
    const Ratios ratios = per_host(plan.fabric, other);
    return fmt::format("Per host it takes {:.2f} of the switches and {:.2f} of the optics of {}.\n",
                       ratios.switches, ratios.optics, what);
  };
  return "\n" + line(*plan.three_tiers, "three tiers on one plane") +
         line(*plan.same_hosts, "one plane with as many hosts") + caveat(plan) +
         fmt::format(
             "Compared with: one plane of full bisection, from switches of the same {}, as {} x "
             "{}.\n",
             text::human_rate(plan.switch_bits_per_second), plan.radix,
             text::human_rate(plan.fabric.host_bits_per_second));
}

nlohmann::ordered_json design_json(const Design& design) {
  return {{"planes", design.planes},
          {"tiers", design.switches.size()},
          {"hosts", design.hosts},
          {"host_bits_per_second", design.host_bits_per_second},
          {"switches", design.switches_total()},
          {"switches_by_tier",
           std::vector<std::uint64_t>(design.switches.begin(), design.switches.end())},
          {"host_links", design.host_links},
          {"switch_links", design.switch_links},
          {"transceivers", design.transceivers},
          {"longest_path", design.longest_path},
          {"hosts_per_t0", design.hosts_per_t0},
          {"bisection_bits_per_second", design.bisection_bits_per_second},
          {"oversubscription", design.oversubscription},
          {"loss",
           {{"nic_port", design.loss.nic_port},
            {"t0", design.loss.t0},
            {"uplink", design.loss.uplink},
            {"uplink_of_t0", design.loss.uplink_of_t0},
            {"t1", design.loss.t1},
            {"t2", design.loss.t2}}}};
}

nlohmann::ordered_json shape_json(const fabric::Shape& shape) {
  return {{"planes", shape.planes},
          {"racks", shape.racks},
          {"hosts_per_rack", shape.hosts_per_rack},
          {"uplinks", shape.uplinks},
          {"links_per_t1", shape.links_per_t1},
          {"pods", shape.pods},
          {"t1_uplinks", shape.t1_uplinks},
          {"host_link_gbps", static_cast<double>(shape.host_link_bits_per_second) / 1e9},
          {"uplink_gbps", static_cast<double>(shape.uplink_bits_per_second) / 1e9},
          {"host_link_ns", shape.host_link_delay.raw()},
          {"uplink_ns", shape.uplink_delay.raw()}};
}

}  // namespace

std::string one_line(const fabric::Fabric& fabric) {
  const fabric::Shape& shape = fabric.shape();
  const auto count = [](std::uint64_t number, std::string_view thing) {
    return fmt::format("{} {}{}", text::grouped(number), thing, number == 1 ? "" : "s");
  };
  std::string switches = count(shape.racks, "T0");
  if (fabric.has_t2()) {
    switches += ", " + count(fabric.t1s(), "T1") + " and " + count(fabric.t2s(), "T2");
  } else if (fabric.has_t1()) {
    switches += " and " + count(fabric.t1s(), "T1");
  }
  const double host_rate = shape.planes * static_cast<double>(shape.host_link_bits_per_second);
  return fmt::format("{}, {} in each; {}, {} per host", count(shape.planes, "plane"), switches,
                     count(fabric.hosts(), "host"), text::human_rate(host_rate));
}

std::string plan_table(const fabric::Fabric& fabric, const Plan& plan) {
  PlanTable table(plan);
  table.titles({"this fabric", "one plane,", "one plane,"});
  table.titles({"", "three tiers", "as many hosts"});
  add_parts(table, plan);
  add_reach(table);
  add_losses(table, plan);
  return fmt::format(
      "{}\n\n{}{}"
      "Every cable counts as optical, with a transceiver at both ends; as many links of several\n"
      "planes share one as it has room for.\n",
      one_line(fabric), table.text(), comparison(plan));
}

nlohmann::ordered_json plan_json(const fabric::Fabric& fabric, const Plan& plan) {
  nlohmann::ordered_json json{{"shape", shape_json(fabric.shape())},
                              {"switch_bits_per_second", plan.switch_bits_per_second},
                              {"switch_ports_at_host_speed", plan.radix},
                              {"fabric", design_json(plan.fabric)},
                              {"three_tiers", nullptr},
                              {"same_hosts", nullptr}};
  if (plan.three_tiers) json["three_tiers"] = design_json(*plan.three_tiers);
  if (plan.same_hosts) json["same_hosts"] = design_json(*plan.same_hosts);
  return json;
}

}  // namespace openmrc::tools
