// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/mrc/map/simulate.h"

namespace openmrc::tools {
namespace {

using Json = nlohmann::ordered_json;
using mapsim::LossRow;

constexpr std::size_t kNamesMax = 10;

const char* name_of_kind(const LossRow& row) {
  return row.kind == fabric::LinkId::Kind::kHost ? "host link" : "uplink";
}

double length_in_seconds(Duration span) { return static_cast<double>(span.raw()) / 1e9; }

std::string time_text(const LossRow& row, double seconds) {
  return row.named == 0 ? "-" : fmt::format("{:.1f} s", seconds);
}

std::string list(const char* what, const std::vector<std::string>& names) {
  std::string text = fmt::format("{}: {}\n", what, names.size());
  for (std::size_t i = 0; i < names.size() && i < kNamesMax; ++i) text += "  " + names[i] + "\n";
  return text;
}

}  // namespace

std::string simulation_text(const mapsim::Settings& settings, const mapsim::Summary& summary) {
  std::string text = fmt::format(
      "{} agents, {} planes, {} rounds per second, {:g} s; {} bad links\n\n"
      "{:<10} {:>8} {:>7} {:>7} {:>10} {:>10} {:>9} {:>10} {:>10}\n",
      summary.agents, settings.shape.planes, settings.rounds_per_second,
      length_in_seconds(settings.length), summary.faults, "link", "loss", "bad", "named", "median",
      "p99", "by rack", "direction", "wrong");
  for (const LossRow& row : summary.rows) {
    text += fmt::format("{:<10} {:>8g} {:>7} {:>7} {:>10} {:>10} {:>9} {:>10} {:>10}\n",
                        name_of_kind(row), row.loss, row.faults, row.named,
                        time_text(row, row.median_seconds), time_text(row, row.p99_seconds),
                        row.by_rack, row.right_direction, row.wrong_direction);
  }
  text += fmt::format("\nprecision {:.4f}, recall {:.4f}\n", summary.precision(), summary.recall());
  text += list("false names", summary.false_names);
  return text + list("false verdicts of single agents", summary.false_by_agents);
}

std::string simulation_json(const mapsim::Settings& settings, const mapsim::Summary& summary) {
  Json json{{"agents", summary.agents},
            {"planes", settings.shape.planes},
            {"rounds_per_second", settings.rounds_per_second},
            {"seconds", length_in_seconds(settings.length)},
            {"seed", settings.seed},
            {"bad_links", summary.faults},
            {"named", summary.named},
            {"precision", summary.precision()},
            {"recall", summary.recall()},
            {"false_names", summary.false_names},
            {"false_by_agents", summary.false_by_agents},
            {"rounds_judged", summary.rounds_judged},
            {"rounds_left_out", summary.rounds_left_out},
            {"probes_lost", summary.probes_lost},
            {"rows", Json::array()}};
  for (const LossRow& row : summary.rows) {
    json["rows"].push_back({{"link", name_of_kind(row)},
                            {"loss", row.loss},
                            {"bad", row.faults},
                            {"named", row.named},
                            {"by_rack", row.by_rack},
                            {"right_direction", row.right_direction},
                            {"wrong_direction", row.wrong_direction},
                            {"median_seconds", row.median_seconds},
                            {"p99_seconds", row.p99_seconds}});
  }
  return json.dump(2) + "\n";
}

}  // namespace openmrc::tools
