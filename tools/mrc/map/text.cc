// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/map/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "tools/mrc/loss_text.h"

namespace openmrc::tools {
namespace {

using Json = nlohmann::ordered_json;
using mapper::Finding;

constexpr std::size_t kColumns = 6;
using Row = std::array<std::string, kColumns>;

double seconds_of(Duration span) { return static_cast<double>(span.raw()) / 1e9; }

Row row_of(const Finding& finding) {
  if (finding.delay > Duration()) {
    return {name_of(finding.element),
            "slow",
            "",
            fmt::format("+{:.2g} ms", seconds_of(finding.delay) * 1e3),
            "",
            fmt::format("{} of {}", finding.found_by, finding.asked)};
  }
  return {name_of(finding.element),
          std::string(name_of(finding.direction)),
          loss_text(finding.loss),
          fmt::format("{} of {}", finding.seen.lost, finding.seen.sent),
          age_text(seconds_of(finding.age)),
          fmt::format("{} of {}", finding.found_by, finding.asked)};
}

std::string table(const std::vector<Row>& rows) {
  std::array<std::size_t, kColumns> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < kColumns; ++i) {
      line += i < 2 ? fmt::format("{:<{}}  ", row[i], widths[i])
                    : fmt::format("{:>{}}  ", row[i], widths[i]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string plural(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::string map_text(const MapAnswer& answer) {
  std::string text;
  for (const Unread& each : answer.unread) text += fmt::format("{}: {}\n", each.url, each.why);
  for (const std::string& each : answer.map.left_out) {
    text += fmt::format("{}: left out: it is in another fabric than the first agent\n", each);
  }
  std::vector<Row> rows{{"bad", "direction", "loss", "lost", "for", "agents"}};
  for (const Finding& each : answer.map.findings) rows.push_back(row_of(each));
  if (rows.size() > 1) text += table(rows);
  const std::size_t asked = answer.read + answer.unread.size();
  return text + fmt::format("{} found by {} of {}.\n",
                            answer.map.findings.empty()
                                ? "Nothing bad"
                                : plural(answer.map.findings.size(), "bad element"),
                            answer.read, plural(asked, "agent"));
}

std::string map_json(const MapAnswer& answer) {
  Json json{{"agents_read", answer.read},
            {"agents_unread", Json::array()},
            {"left_out", answer.map.left_out},
            {"bad", Json::array()}};
  for (const Unread& each : answer.unread) {
    json["agents_unread"].push_back({{"url", each.url}, {"why", each.why}});
  }
  for (const Finding& each : answer.map.findings) {
    json["bad"].push_back({{"name", name_of(each.element)},
                           {"direction", name_of(each.direction)},
                           {"loss", each.loss},
                           {"delay_seconds", seconds_of(each.delay)},
                           {"lost", each.seen.lost},
                           {"sent", each.seen.sent},
                           {"for_seconds", seconds_of(each.age)},
                           {"found_by", each.found_by},
                           {"asked", each.asked},
                           {"by_rack", each.by_rack}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace openmrc::tools
