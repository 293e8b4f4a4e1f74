// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/experiment/experiment_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "openmrc/sim/experiment/fabric_costs.h"
#include "openmrc/sim/experiment/summary_text.h"
#include "openmrc/sim/report/interval_chart.h"
#include "openmrc/sim/report/markup.h"
#include "openmrc/sim/report/page.h"
#include "openmrc/text/numbers.h"

namespace openmrc::sim {
namespace {

using text::grouped;

// More rows are no chart any more; the table has them all.
constexpr std::size_t kRowsMax = 60;

// Groups with the same value of the first axis have one color.
std::vector<std::size_t> colors_of(const std::vector<Group>& groups) {
  std::map<std::string, std::size_t> seen;
  std::vector<std::size_t> colors;
  for (const Group& group : groups) {
    const std::string first = group.values.empty() ? "" : group.values.front();
    colors.push_back(seen.try_emplace(first, seen.size()).first->second);
  }
  return colors;
}

// Side by side is what differs in the first axis alone: what is to be decided.
std::vector<Group> in_order(std::vector<Group> groups) {
  std::map<std::vector<std::string>, std::size_t> places;
  const auto rest = [](const Group& group) {
    return group.values.empty()
               ? std::vector<std::string>{}
               : std::vector<std::string>(group.values.begin() + 1, group.values.end());
  };
  for (const Group& group : groups) places.try_emplace(rest(group), places.size());
  std::ranges::stable_sort(groups, {}, [&](const Group& group) { return places.at(rest(group)); });
  return groups;
}

std::string chart_card(const std::vector<Group>& groups, std::size_t measure) {
  const std::vector<std::size_t> colors = colors_of(groups);
  IntervalChart chart{.title = std::string(measures()[measure].label),
                      .unit = measures()[measure].unit};
  for (std::size_t i = 0; i < std::min(groups.size(), kRowsMax); ++i) {
    const auto& estimate = groups[i].estimates[measure];
    if (!estimate) continue;
    chart.rows.push_back({.name = label_of(groups[i].values),
                          .at = estimate->median,
                          .low = estimate->low,
                          .high = estimate->high,
                          .color = colors[i]});
  }
  std::string note = begins_above_zero(chart) ? "The axis does not begin at 0." : "";
  if (groups.size() > kRowsMax) {
    note += fmt::format(" The first {} of {} combinations.", kRowsMax, grouped(groups.size()));
  }
  return section(chart.title, note, "<div class=\"scroll\">" + render_svg(chart) + "</div>");
}

std::string table_card(const Experiment& experiment, const std::vector<Group>& groups,
                       const std::vector<std::size_t>& shown, std::string_view title) {
  std::vector<Cell> head;
  head.reserve(experiment.axes.size() + 1 + shown.size());
  for (const std::string& axis : experiment.axes) head.push_back({axis});
  head.push_back({"runs", true});
  for (const std::size_t i : shown) head.push_back({std::string(measures()[i].label), true});
  std::vector<std::vector<Cell>> rows;
  for (const Group& group : groups) {
    std::vector<Cell>& row = rows.emplace_back();
    for (const std::string& value : group.values) row.push_back({value});
    row.push_back({group.unfinished == 0
                       ? grouped(group.runs)
                       : fmt::format("{} ({} unfinished)", group.runs, group.unfinished),
                   true});
    for (const std::size_t i : shown) {
      row.push_back({estimate_text(group.estimates[i], measures()[i].unit), true});
    }
  }
  return "<div class=\"wide\">" + section(title, "", table(head, rows)) + "</div>\n";
}

std::string cost_card(const Experiment& experiment, const std::optional<fabric::Parts>& parts) {
  const std::vector<FabricCost> costs = fabric_costs(experiment, parts);
  if (costs.empty()) return {};
  std::vector<std::vector<Cell>> rows;
  for (const std::vector<std::string>& texts : cost_table(costs, parts)) {
    std::vector<Cell>& row = rows.emplace_back();
    for (const std::string& text : texts) row.push_back({text, !row.empty()});
  }
  const std::vector<Cell> head = std::move(rows.front());
  rows.erase(rows.begin());
  return "<div class=\"wide\">" +
         section("What the fabrics are made of", cost_note(parts), table(head, rows)) + "</div>\n";
}

std::string facts_of(const Experiment& experiment, const std::vector<Group>& groups) {
  std::string facts = fmt::format("{} runs \u00b7 {} combinations", grouped(experiment.runs.size()),
                                  grouped(groups.size()));
  if (experiment.axes.empty()) return facts;
  facts += " of ";
  for (std::size_t i = 0; i < experiment.axes.size(); ++i) {
    facts += (i == 0 ? "" : ", ") + experiment.axes[i];
  }
  return facts;
}

}  // namespace

std::string experiment_page(const Experiment& experiment, const std::vector<std::size_t>& shown,
                            const std::optional<fabric::Parts>& parts) {
  const std::vector<Group> groups = in_order(groups_of(experiment));
  const std::string title = experiment.title.empty() ? "An experiment" : experiment.title;
  std::string page = page_begin(title);
  page += "<header>\n" + paragraph("eyebrow", "OpenMRC fabric simulator \u00b7 experiment") +
          fmt::format("<h1>{}</h1>\n", escaped(title)) +
          paragraph("facts", facts_of(experiment, groups)) +
          paragraph("detail", experiment_warning(experiment)) +
          paragraph("text", interval_note(groups)) + "</header>\n<div class=\"charts\">\n";
  for (const std::size_t measure : shown) page += chart_card(groups, measure);
  page += table_card(experiment, groups, shown, "Medians and intervals");
  page += cost_card(experiment, parts);
  std::vector<std::size_t> others;
  for (const std::size_t i : measures_in(groups)) {
    if (std::ranges::find(shown, i) == shown.end()) others.push_back(i);
  }
  if (!others.empty()) page += table_card(experiment, groups, others, "All other figures");
  page += "</div>\n";
  return page + page_end("Made by OpenMRC. Each run can be run again from its result.");
}

}  // namespace openmrc::sim
