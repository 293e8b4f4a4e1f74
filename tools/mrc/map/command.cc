// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/map/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "openmrc/mapper/report.h"
#include "openmrc/text/units.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/fabric/load.h"
#include "tools/mrc/http.h"
#include "tools/mrc/map/simulate.h"
#include "tools/mrc/map/text.h"

namespace openmrc::tools {
namespace {

constexpr int kFoundBad = 1;
constexpr int kUnread = 3;
constexpr std::size_t kAtOnce = 32;  // agents that are read at the same time

struct MapOptions {
  std::vector<std::string> urls;
  std::string timeout = "2s";
  bool json = false;
};

struct PlanOptions {
  std::string file;
  double rounds = 10;
  bool json = false;
};

using Page = Result<mapper::MapReport, std::string>;

Page read_agent(const Url& url, Duration timeout) {
  auto body = fetch(url, {.timeout = timeout, .bytes_max = mapper::kPageBytesMax});
  if (!body) return failure(std::move(body.error()));
  return mapper::parse_report(*body);
}

std::vector<Page> read_agents(const std::vector<Url>& urls, Duration timeout) {
  std::vector<Page> pages(urls.size(), Page(failure(std::string())));
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < urls.size(); i = next++) {
      pages[i] = read_agent(urls[i], timeout);
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < std::min(kAtOnce, urls.size()); ++i) threads.emplace_back(work);
  threads.clear();  // waits for them
  return pages;
}

int exit_code_of(const MapAnswer& answer) {
  if (!answer.map.findings.empty()) return kFoundBad;
  return answer.unread.empty() && answer.map.left_out.empty() ? 0 : kUnread;
}

int show_map(const MapOptions& options) {
  if (options.urls.empty()) {
    return complain("map", "name the agents to read", "such as `mrc map h0 h1`");
  }
  const auto timeout = text::parse_duration(options.timeout);
  if (!timeout) return complain("map", "--timeout: " + timeout.error());
  std::vector<Url> urls;
  for (const std::string& each : options.urls) {
    auto url = parse_url(each, "/map");
    if (!url) return complain("map", url.error());
    urls.push_back(*std::move(url));
  }
  MapAnswer answer;
  std::vector<mapper::MapReport> reports;
  std::vector<Page> pages = read_agents(urls, *timeout);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    if (pages[i]) {
      reports.push_back(*std::move(pages[i]));
    } else {
      answer.unread.push_back({.url = options.urls[i], .why = std::move(pages[i].error())});
    }
  }
  answer.read = reports.size();
  answer.map = mapper::merge(reports);
  std::cout << (options.json ? map_json(answer) : map_text(answer));
  return exit_code_of(answer);
}

int show_plan(const PlanOptions& options) {
  const auto fabric = load_addressed_fabric(options.file);
  if (!fabric) return complain("map", fabric.error());
  std::cout << (options.json ? probe_plan_json(*fabric, options.rounds)
                             : probe_plan_text(*fabric, options.rounds));
  return 0;
}

void add_plan(CLI::App& map, int& exit_code) {
  constexpr double kRoundsMax = 1000;
  const auto options = std::make_shared<PlanOptions>();
  CLI::App* plan =
      map.add_subcommand("plan", "What probing a fabric takes, and what it finds when");
  plan->add_option("file", options->file, "Fabric file; - is standard input")
      ->required()
      ->type_name("FILE");
  plan->add_option("--rounds", options->rounds, "Rounds of probes per second; default 10")
      ->check(CLI::Range(0.001, kRoundsMax))
      ->type_name("N");
  plan->add_flag("--json", options->json, "For programs");
  plan->callback([options, &exit_code] { exit_code = show_plan(*options); });
}

}  // namespace

void add_map_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<MapOptions>();
  CLI::App* map = app.add_subcommand("map", "Name bad links, from what agents have found");
  map->require_subcommand(0, 1);
  map->add_option("agents", options->urls, "Agents, such as h0, h0:9917 or http://h0:9917/map")
      ->type_name("URL");
  map->add_option("--timeout", options->timeout, "How long an agent may take; default 2s")
      ->type_name("TIME");
  map->add_flag("--json", options->json, "For programs");
  map->footer(
      "Examples:\n"
      "  mrc map h0 h1 h2 h3\n"
      "  mrc map plan examples/fabrics/published.toml --rounds 100\n"
      "  mrc map simulate examples/fabrics/published.toml --bad 10");
  add_plan(*map, exit_code);
  add_map_simulate(*map, exit_code);
  map->callback([options, map, &exit_code] {
    if (map->get_subcommands().empty()) exit_code = show_map(*options);
  });
}

}  // namespace openmrc::tools
