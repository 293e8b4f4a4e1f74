// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/series/series_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <variant>
#include <vector>

#include "openmrc/fabric/names.h"
#include "openmrc/text/numbers.h"
#include "openmrc/text/units.h"

namespace openmrc::sim {
namespace {

// Lines that somebody looks at. A file with more of them is better made of several runs.
constexpr std::size_t kSeriesHostsMax = 64;
constexpr std::size_t kSeriesLinksMax = 1024;

std::vector<std::string_view> names_in(std::string_view list) {
  std::vector<std::string_view> names;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    names.push_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return names;
}

template <class T>
void sort_once(std::vector<T>& things) {
  std::ranges::sort(things);
  const auto repeated = std::ranges::unique(things);
  things.erase(repeated.begin(), repeated.end());
}

std::string too_many(std::string_view things, std::size_t given, std::size_t most) {
  return fmt::format("series: {} {} are named, and {} is the most", given, things, most);
}

Result<void, std::string> take_hosts(const SeriesRequest& request, const Scenario& scenario,
                                     const fabric::Fabric& fabric, SeriesSettings& settings) {
  if (request.hosts.empty()) return {};
  if (std::holds_alternative<RcTransport>(scenario.transport)) {
    return failure(std::string(
        "series: the windows of hosts are those of MRC, and RC has none; leave the hosts out"));
  }
  for (const std::string_view name : names_in(request.hosts)) {
    const auto host = fabric::parse_host(fabric, name);
    if (!host) return failure("series, hosts: " + to_string(host.error()));
    settings.hosts.push_back(*host);
  }
  sort_once(settings.hosts);
  if (settings.hosts.size() <= kSeriesHostsMax) return {};
  return failure(too_many("hosts", settings.hosts.size(), kSeriesHostsMax));
}

Result<void, std::string> take_busiest(std::uint32_t busiest, const fabric::Fabric& fabric,
                                       SeriesSettings& settings) {
  if (busiest < 1 || busiest > kSeriesLinksMax) {
    return failure(fmt::format("series, links: give 1 to {}, or names", kSeriesLinksMax));
  }
  // To know the busiest at the end, all are recorded.
  const std::uint64_t links = directed_links(fabric);
  if (series_samples_max(links) < kSeriesSamplesMin) {
    return failure(
        fmt::format("series, links: the busiest of {} links are too many to record; give the "
                    "names of some",
                    text::grouped(links)));
  }
  settings.busiest = busiest;
  return {};
}

Result<void, std::string> take_links(const SeriesRequest& request, const fabric::Fabric& fabric,
                                     SeriesSettings& settings) {
  const std::string& list = request.links;
  if (list.empty()) return {};
  std::uint32_t busiest = 0;
  const auto read = std::from_chars(list.data(), list.data() + list.size(), busiest);
  if (read.ec == std::errc() && read.ptr == list.data() + list.size()) {
    return take_busiest(busiest, fabric, settings);
  }
  for (const std::string_view name : names_in(list)) {
    const auto link = fabric::parse_link(fabric, name);
    if (!link) return failure("series, links: " + to_string(link.error()));
    for (const bool upward : {false, true}) {
      settings.links.push_back({.link = *link, .upward = upward});
    }
  }
  sort_once(settings.links);
  if (settings.links.size() <= 2 * kSeriesLinksMax) return {};
  return failure(too_many("links", settings.links.size() / 2, kSeriesLinksMax));
}

}  // namespace

Result<SeriesSettings, std::string> read_request(const SeriesRequest& request,
                                                 const Scenario& scenario) {
  SeriesSettings settings;
  const auto every = text::parse_picoseconds(request.every);
  if (!every) return failure("series, distance of samples: " + every.error());
  if (*every <= Picoseconds{}) {
    return failure(
        std::string("series, distance of samples: give a time above 0, such as \"10 us\""));
  }
  settings.every = *every;
  const fabric::Fabric fabric = *fabric::Fabric::make(scenario.shape);
  if (const auto taken = take_hosts(request, scenario, fabric, settings); !taken) {
    return failure(taken.error());
  }
  if (const auto taken = take_links(request, fabric, settings); !taken) {
    return failure(taken.error());
  }
  return settings;
}

}  // namespace openmrc::sim
