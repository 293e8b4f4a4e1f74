// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/delay.h"

#include <algorithm>

namespace openmrc::mapper {
namespace {

// Among fewer probes, or in a shorter time, none may have found all queues empty.
constexpr std::uint32_t kProbesMin = 20;
constexpr Duration kTimeMin = seconds(5);
// As long as 6 MB take on a link of 100 Gb/s: more than a queue that no packet finds empty.
constexpr Duration kDelayMin = microseconds(500);

}  // namespace

DelayJudge::DelayJudge(const ProbePlan& plan) : plan_(plan), places_(plan) {
  links_.resize(places_.count());
}

void DelayJudge::add(const Batch& batch, Instant now) {
  for (const Batch::RoundTrip& each : batch.round_trips) {
    const std::uint32_t plane = each.plane.raw();
    if (each.kind == ProbeKind::kT0) add(places_.of_host_link(plane), each.time, now);
    if (each.kind != ProbeKind::kT1) continue;
    const std::uint32_t uplink = plan_.uplink_of(batch.first_round + each.round, each.plane);
    add(places_.of_uplink(plane, uplink), each.time, now);
  }
}

void DelayJudge::add(std::size_t place, Duration time, Instant now) {
  Shortest& link = links_[place];
  if (link.probes == 0) link.since = now;
  ++link.probes;
  link.current = std::min(link.current, time);
  if (link.probes < kProbesMin || now - link.since < kTimeMin) return;
  link = {.before = link.current};
}

std::optional<Duration> DelayJudge::time_of(std::size_t place) const {
  const auto whole = links_[place].before;
  if (!whole || places_.is_host_link(place)) return whole;
  const auto host_link = links_[places_.host_link_of(place)].before;
  if (!host_link) return std::nullopt;
  return *whole - *host_link;
}

// Compared with the one in the middle: most links are good.
void DelayJudge::find(bool host_links, std::vector<SlowLink>& found) const {
  std::vector<std::pair<Duration, std::size_t>> times;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (places_.is_host_link(i) != host_links) continue;
    if (const auto time = time_of(i)) times.emplace_back(*time, i);
  }
  if (times.size() < 2) return;
  std::ranges::sort(times);
  const Duration usual = times[(times.size() - 1) / 2].first;
  for (const auto& [time, place] : times) {
    if (time - usual < kDelayMin) continue;
    found.push_back({.link = places_.link_at(place), .delay = time - usual});
  }
}

std::vector<SlowLink> DelayJudge::slow() const {
  std::vector<SlowLink> found;
  find(true, found);
  find(false, found);
  return found;
}

}  // namespace openmrc::mapper
