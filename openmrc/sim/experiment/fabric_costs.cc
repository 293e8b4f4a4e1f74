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
using fabric::Parts;
using fabric::Plan;
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

PartsCost cost_of(const Plan& plan, const Parts& parts) {
  const double chip_bits_per_second = parts.switch_part.tbps * 1e12;
  const double in_use = std::min(1.0, plan.switch_bits_per_second / chip_bits_per_second);
  const Bill bill = optical_bill(plan.fabric, parts);
  const auto hosts = static_cast<double>(plan.fabric.hosts);
  const double link = plan.fabric.host_bits_per_second / plan.fabric.planes;
  const auto ports = static_cast<std::uint64_t>(chip_bits_per_second / link);
  return {.watts_per_host = (bill.switch_watts * in_use + bill.cable_watts) / hosts,
          .price_per_host = (bill.switch_price * in_use + bill.cable_price) / hosts,
          .two_tiers_hosts = ports * ports / 2};
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
    const Plan plan = plan_of(*fabric);
    FabricCost& cost = costs.emplace_back(std::move(label), plan.fabric);
    if (parts) cost.parts = cost_of(plan, *parts);
  }
  return costs;
}

std::vector<std::vector<std::string>> cost_table(const std::vector<FabricCost>& costs,
                                                 const std::optional<Parts>& parts) {
  std::vector<std::string> head{"fabric", "hosts", "planes", "switches", "cables"};
  if (parts) {
    head.insert(head.end(), {fmt::format("{} per host", parts->currency), "power per host",
                             "hosts, two tiers"});
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
                           text::grouped(cost.parts->two_tiers_hosts)});
  }
  return rows;
}

std::string cost_note(const std::optional<Parts>& parts) {
  if (!parts) return "With --parts FILE also what the fabrics cost and draw.";
  return fmt::format(
      "Of switches the share of ports that is in use; every cable is the one called '{}'; NICs, "
      "hosts, cooling and spares are not in it. 'hosts, two tiers' is how many a fabric of such "
      "switches and links can have, non-blocking. Prices: {}.",
      parts->optics().name, parts->prices_from);
}

}  // namespace openmrc::sim
