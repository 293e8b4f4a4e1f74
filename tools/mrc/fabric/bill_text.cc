// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "openmrc/fabric/bill.h"
#include "openmrc/text/numbers.h"
#include "tools/mrc/fabric/plan_columns.h"
#include "tools/mrc/fabric/text.h"

namespace openmrc::tools {
namespace {

using fabric::Bill;
using fabric::CablePlan;
using fabric::CableUse;
using fabric::Design;
using fabric::Parts;
using fabric::Plan;

void add_bill(PlanTable& table, const Parts& parts) {
  const auto row = [&](std::string_view what, std::string_view unit, auto amount) {
    table.row(what, [&](const Design& design) {
      return text::human_si(amount(optical_bill(design, parts), static_cast<double>(design.hosts)),
                            unit);
    });
  };
  row("power", "W", [](const Bill& bill, double) { return bill.watts(); });
  row("  switches", "W", [](const Bill& bill, double) { return bill.switch_watts; });
  row("  optics", "W", [](const Bill& bill, double) { return bill.cable_watts; });
  row("  per host", "W", [](const Bill& bill, double hosts) { return bill.watts() / hosts; });
  row("cost, " + parts.currency, "", [](const Bill& bill, double) { return bill.price(); });
  row("  switches", "", [](const Bill& bill, double) { return bill.switch_price; });
  row("  optics", "", [](const Bill& bill, double) { return bill.cable_price; });
  row("  per host", "", [](const Bill& bill, double hosts) { return bill.price() / hosts; });
}

std::string use_line(std::string_view name, const CableUse& use) {
  return fmt::format("  {:<20}{:>14}{:>14}{:>18}{:>12}\n", name, text::grouped(use.cables),
                     text::grouped(use.host_links), text::grouped(use.switch_links),
                     fmt::format("{:.1f} m", use.longest_m));
}

std::string cables_text(const CablePlan& cables, const Parts& parts) {
  std::string text = fmt::format("  {:<20}{:>14}{:>14}{:>18}{:>12}\n", "", "cables", "NIC to T0",
                                 "between switches", "longest");
  for (std::size_t i = 0; i < cables.uses.size(); ++i) {
    if (cables.uses[i].cables > 0) text += use_line(parts.cables[i].name, cables.uses[i]);
  }
  const CableUse& left = cables.too_long;
  if (const std::uint64_t links = left.host_links + left.switch_links; links > 0) {
    text += fmt::format(
        "  {} links, of up to {:.1f} m, are longer than any cable of the parts: add one, or put\n"
        "  more racks in a line. They are left out below.\n",
        text::grouped(links), left.longest_m);
  }
  return text;
}

// How far the part is from what the fabric needs.
std::string switch_note(const Plan& plan, const Parts& parts) {
  const double needed = plan.switch_bits_per_second / 1e12;
  const double has = parts.switch_part.tbps;
  if (needed > has) {
    return fmt::format(
        "The switches need {:.3g} Tb/s, and the one of the parts has {:.3g}: these figures are too "
        "low.\n",
        needed, has);
  }
  if (needed * 2 > has) return {};
  return fmt::format(
      "The switches need {:.3g} of the {:.3g} Tb/s that the one of the parts has: a smaller one "
      "would do.\n",
      needed, has);
}

nlohmann::ordered_json json_of(const Bill& bill) {
  return {{"watts", bill.watts()},
          {"switch_watts", bill.switch_watts},
          {"cable_watts", bill.cable_watts},
          {"price", bill.price()},
          {"switch_price", bill.switch_price},
          {"cable_price", bill.cable_price}};
}

nlohmann::ordered_json json_of(std::string_view name, const CableUse& use) {
  return {{"name", name},
          {"cables", use.cables},
          {"host_links", use.host_links},
          {"switch_links", use.switch_links},
          {"longest_m", use.longest_m}};
}

}  // namespace

std::string bill_table(const fabric::Fabric& fabric, const Plan& plan, const Parts& parts) {
  PlanTable table(plan);
  table.heading(
      fmt::format("Power and cost, if every cable is the one called '{}'", parts.optics().name));
  add_bill(table, parts);
  const CablePlan cables = cable_plan(fabric, parts);
  const Bill bill = bill_of(plan.fabric, cables, parts);
  const auto hosts = static_cast<double>(plan.fabric.hosts);
  const fabric::FloorPlan floor(fabric, parts.floor);
  return table.text() +
         fmt::format("\nCables of this fabric by their length, in {} lines of {} cabinets\n",
                     text::grouped(floor.lines()), text::grouped(floor.columns())) +
         cables_text(cables, parts) +
         fmt::format(
             "With these it draws {} ({} per host) and costs {} {} ({} per host).\n"
             "NICs, hosts, cooling and spares are not in it. Prices: {}.\n",
             text::human_si(bill.watts(), "W"), text::human_si(bill.watts() / hosts, "W"),
             text::human_si(bill.price()), parts.currency, text::human_si(bill.price() / hosts),
             parts.prices_from) +
         switch_note(plan, parts);
}

nlohmann::ordered_json bill_json(const fabric::Fabric& fabric, const Plan& plan,
                                 const Parts& parts) {
  const CablePlan cables = cable_plan(fabric, parts);
  nlohmann::ordered_json uses = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < cables.uses.size(); ++i) {
    uses.push_back(json_of(parts.cables[i].name, cables.uses[i]));
  }
  nlohmann::ordered_json json{{"currency", parts.currency},
                              {"prices_from", parts.prices_from},
                              {"fabric", json_of(optical_bill(plan.fabric, parts))},
                              {"three_tiers", nullptr},
                              {"same_hosts", nullptr},
                              {"cables", uses},
                              {"too_long", json_of("too long", cables.too_long)},
                              {"with_cables", json_of(bill_of(plan.fabric, cables, parts))}};
  if (plan.three_tiers) json["three_tiers"] = json_of(optical_bill(*plan.three_tiers, parts));
  if (plan.same_hosts) json["same_hosts"] = json_of(optical_bill(*plan.same_hosts, parts));
  return json;
}

}  // namespace openmrc::tools
