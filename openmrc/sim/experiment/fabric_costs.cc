// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/experiment/fabric_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "openmrc/fabric/bill.h"
#include "openmrc/text/numbers.h"

namespace openmrc::sim {
namespace {

using fabric::Bill;
using fabric::Design;
using fabric::Parts;
using fabric::Shape;

std::string label_of(const ExperimentRun& run, std::size_t axes) {
  return sim::label_of(std::span(run.values).first(axes));
}

// Whether runs that are alike in so many axes have the same fabric.
bool tell_apart(const std::vector<ExperimentRun>& runs, std::size_t axes) {
  std::map<std::string, Shape> seen;
  return std::ranges::all_of(runs, [&](const ExperimentRun& run) {
    return seen.try_emplace(label_of(run, axes), *run.shape).first->second == *run.shape;
  });
}

// The most hosts of full bisection: half of the ports of all but the uppermost tier go down.
std::uint64_t hosts_max(std::uint64_t ports, std::size_t tiers) {
  std::uint64_t hosts = ports;
  for (std::size_t tier = 1; tier < tiers; ++tier) hosts *= ports / 2;
  return hosts;
}

PartsCost cost_of(const Shape& shape, const Design& design, const Parts& parts) {
  const auto host_link = static_cast<double>(shape.host_link_bits_per_second);
  const auto uplink = static_cast<double>(shape.uplink_bits_per_second);
  const double ports_in_use = static_cast<double>(design.host_links) * host_link +
                              2 * static_cast<double>(design.switch_links) * uplink;
  const double chip = parts.switch_part.tbps * 1e12;
  const double switches = ports_in_use / chip;
  const Bill bill = optical_bill(design, parts);
  const auto hosts = static_cast<double>(design.hosts);
  return {
      .watts_per_host = (switches * parts.switch_part.watts + bill.cable_watts) / hosts,
      .price_per_host = (switches * parts.switch_part.price + bill.cable_price) / hosts,
      .hosts_max = hosts_max(static_cast<std::uint64_t>(chip / host_link), design.switches.size())};
}

}  // namespace

std::vector<FabricCost> fabric_costs(const Experiment& experiment,
                                     const std::optional<Parts>& parts) {
  const std::vector<ExperimentRun>& runs = experiment.runs;
  if (!std::ranges::all_of(runs, [](const ExperimentRun& run) { return run.shape.has_value(); })) {
    return {};
  }
  std::size_t axes = 0;
  while (axes < experiment.axes.size() && !tell_apart(runs, axes)) ++axes;
  std::vector<FabricCost> costs;
  for (const ExperimentRun& run : runs) {
    std::string label = label_of(run, axes);
    if (std::ranges::find(costs, label, &FabricCost::runs) != costs.end()) continue;
    const auto fabric = fabric::Fabric::make(*run.shape);
    if (!fabric) continue;  // then it could not have run
    FabricCost& cost = costs.emplace_back(std::move(label), plan_of(*fabric).fabric);
    if (parts) cost.parts = cost_of(*run.shape, cost.design, *parts);
  }
  return costs;
}

std::vector<std::vector<std::string>> cost_table(const std::vector<FabricCost>& costs,
                                                 const std::optional<Parts>& parts) {
  std::vector<std::string> head{"fabric", "hosts", "planes", "switches", "cables"};
  if (parts) {
    head.insert(head.end(),
                {fmt::format("{} per host", parts->currency), "power per host", "hosts, at most"});
  }
  std::vector<std::vector<std::string>> rows{std::move(head)};
  for (const FabricCost& cost : costs) {
    const fabric::Design& design = cost.design;
    std::vector<std::string>& row = rows.emplace_back();
    row = {cost.runs, text::grouped(design.hosts), text::grouped(design.planes),
           text::grouped(design.switches_total()),
           text::grouped(design.host_links + design.switch_links)};
    if (!cost.parts) continue;
    row.insert(row.end(), {text::human_si(cost.parts->price_per_host),
                           text::human_si(cost.parts->watts_per_host, "W"),
                           text::grouped(cost.parts->hosts_max)});
  }
  return rows;
}

std::string cost_note(const std::optional<Parts>& parts) {
  if (!parts) return "With --parts FILE also what the fabrics cost and draw.";
  return fmt::format(
      "Of switches the share of ports that is in use; every cable is the one called '{}'; NICs, "
      "hosts, cooling and spares are not in it. 'hosts, at most' is how many a fabric of such "
      "switches, links and tiers can have, non-blocking. Prices: {}.",
      parts->optics().name, parts->prices_from);
}

}  // namespace openmrc::sim
