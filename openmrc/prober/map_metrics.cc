// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/prober/map_metrics.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "openmrc/fabric/fabric.h"
#include "openmrc/fabric/names.h"

namespace openmrc::prober {
namespace {

using host::Labels;
using host::MetricType;
using host::Sample;
using mapper::BadLink;
using mapper::MapReport;
using mapper::SlowLink;
using mapper::Tally;

double seconds_of(Duration span) { return static_cast<double>(span.raw()) / 1e9; }

bool is_host_link(const fabric::LinkId& link) { return link.kind == fabric::LinkId::Kind::kHost; }

const char* tier_of(const fabric::LinkId& link) { return is_host_link(link) ? "host" : "uplink"; }

std::string number(Plane plane) { return std::to_string(plane.raw()); }

void add_rounds(const MapReport& report, std::vector<Sample>& samples) {
  const auto add = [&](const char* outcome, std::uint64_t rounds) {
    samples.push_back({.name = "openmrc_probe_rounds_total",
                       .help = "rounds of probes that were judged, and those left out, by reason",
                       .labels = {{"outcome", outcome}},
                       .value = rounds});
  };
  add("judged", report.counters.rounds_judged);
  add("host_late", report.counters.rounds_host_late);
  add("all_planes", report.counters.rounds_all_planes);
}

void add_probes(Plane plane, const char* tier, const Tally& tally, std::vector<Sample>& samples) {
  const Labels labels{{"plane", number(plane)}, {"tier", tier}};
  samples.push_back({.name = "openmrc_probes_sent_total",
                     .help = "probes over the host's link, and over the uplinks of its T0",
                     .labels = labels,
                     .value = tally.sent});
  samples.push_back({.name = "openmrc_probes_lost_total",
                     .help = "those that did not come back",
                     .labels = labels,
                     .value = tally.lost});
}

// Who has no good link of its own in a plane cannot tell what is behind it.
void add_plane(const MapReport& report, Plane plane, std::uint32_t rack,
               std::vector<Sample>& samples) {
  std::uint64_t bad = 0;
  bool sees_uplinks = true;
  for (const BadLink& each : report.bad) {
    if (each.link.plane != plane) continue;
    ++bad;
    if (is_host_link(each.link)) sees_uplinks = false;
  }
  samples.push_back({.name = "openmrc_bad_links",
                     .help = "links that the mapper of this host finds bad",
                     .type = MetricType::kGauge,
                     .labels = {{"plane", number(plane)}},
                     .value = bad});
  const auto is_of_plane = [&](const SlowLink& each) { return each.link.plane == plane; };
  samples.push_back(
      {.name = "openmrc_slow_links",
       .help = "links on which every packet takes longer, as the mapper of this host finds",
       .type = MetricType::kGauge,
       .labels = {{"plane", number(plane)}},
       .value = static_cast<std::uint64_t>(std::ranges::count_if(report.slow, is_of_plane))});
  samples.push_back({.name = "openmrc_uplinks_visible",
                     .help = "1: the link of this host is good, so it can judge those behind",
                     .type = MetricType::kGauge,
                     .labels = {{"plane", number(plane)}, {"rack", std::to_string(rack)}},
                     .value = std::uint64_t{sees_uplinks ? 1U : 0U}});
}

Labels labels_of(const fabric::LinkId& link) {
  return {{"plane", number(link.plane)},
          {"rack", std::to_string(link.rack)},
          {"tier", tier_of(link)},
          {"port", std::to_string(link.port)},
          {"link", fabric::name_of(link)}};
}

void add_slow(const SlowLink& slow, std::vector<Sample>& samples) {
  samples.push_back({.name = "openmrc_slow_link_delay_seconds",
                     .help = "what a slow link takes longer than others, there and back",
                     .type = MetricType::kGauge,
                     .labels = labels_of(slow.link),
                     .value = seconds_of(slow.delay)});
}

void add_bad(const BadLink& bad, std::vector<Sample>& samples) {
  Labels labels = labels_of(bad.link);
  labels.emplace_back("direction", std::string(name_of(bad.direction)));
  samples.push_back({.name = "openmrc_bad_link_loss_ratio",
                     .help = "of probes that cross a bad link there and back, recently",
                     .type = MetricType::kGauge,
                     .labels = labels,
                     .value = bad.loss});
  samples.push_back({.name = "openmrc_bad_link_probes_sent_total",
                     .help = "probes over a bad link since its first loss",
                     .labels = labels,
                     .value = bad.seen.sent});
  samples.push_back({.name = "openmrc_bad_link_probes_lost_total",
                     .help = "those that did not come back",
                     .labels = labels,
                     .value = bad.seen.lost});
  samples.push_back({.name = "openmrc_bad_link_seconds",
                     .help = "how long ago a bad link lost the first of them",
                     .type = MetricType::kGauge,
                     .labels = labels,
                     .value = seconds_of(bad.age)});
}

template <class Link, class Badness>
std::vector<Link> worst_of(std::vector<Link> links, Badness badness) {
  if (links.size() <= kBadLinksShown) return links;
  std::ranges::stable_sort(links, std::ranges::greater{}, badness);
  links.resize(kBadLinksShown);
  return links;
}

}  // namespace

std::vector<Sample> samples_of(const MapReport& report) {
  const auto fabric = fabric::Fabric::make(report.shape);
  if (!fabric) return {};
  const std::uint32_t rack = fabric->rack_of(report.index);
  std::vector<Sample> samples;
  add_rounds(report, samples);
  for (const mapper::LinkTally& each : report.links) {
    if (is_host_link(each.link)) add_probes(each.link.plane, "host", each.tally, samples);
  }
  for (std::size_t i = 0; i < report.uplinks.size(); ++i) {
    const Plane plane(static_cast<std::uint8_t>(i));
    add_probes(plane, "uplink", report.uplinks[i], samples);
    add_plane(report, plane, rack, samples);
  }
  for (const BadLink& each : worst_of(report.bad, &BadLink::loss)) add_bad(each, samples);
  for (const SlowLink& each : worst_of(report.slow, &SlowLink::delay)) add_slow(each, samples);
  return samples;
}

}  // namespace openmrc::prober
