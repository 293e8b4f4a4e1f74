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
// A delay counts if it is so many times what round trips are longer than the shortest on average.
constexpr int kSpreads = 2;
// Round trips count for so many times the span in which they were seen: a link that no probe comes
// back from any more is not slow.
constexpr int kSpansKept = 3;

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

bool DelayJudge::RoundTrips::is_recent(Instant now) const {
  return now - last <= std::max(last - first, kTimeMin) * kSpansKept;
}

void DelayJudge::add(std::size_t place, Duration time, Instant now) {
  LinkTimes& link = links_[place];
  RoundTrips& current = link.current;
  if (current.count == 0) current.first = now;
  current.last = now;
  ++current.count;
  current.shortest = std::min(current.shortest, time);
  current.sum += time;
  if (current.count < kProbesMin || now - current.first < kTimeMin) return;
  link = {.complete = current};
}

const DelayJudge::RoundTrips* DelayJudge::recent(std::size_t place, Instant now) const {
  const auto& complete = links_[place].complete;
  return complete && complete->is_recent(now) ? &*complete : nullptr;
}

std::optional<DelayJudge::LinkTime> DelayJudge::time_of(std::size_t place, Instant now) const {
  const RoundTrips* whole = recent(place, now);
  const RoundTrips* host_link = recent(places_.host_link_of(place), now);
  if (whole == nullptr || host_link == nullptr) return std::nullopt;
  const Duration before = places_.is_host_link(place) ? Duration{} : host_link->shortest;
  return LinkTime{.time = whole->shortest - before, .spread = whole->spread(), .place = place};
}

// Compared with the one in the middle: most links are good.
void DelayJudge::find(bool host_links, Instant now, std::vector<SlowLink>& found) const {
  std::vector<LinkTime> times;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (places_.is_host_link(i) != host_links) continue;
    if (const auto time = time_of(i, now)) times.push_back(*time);
  }
  if (times.size() < 2) return;
  std::ranges::sort(times, {}, &LinkTime::time);
  const Duration usual = times[(times.size() - 1) / 2].time;
  for (const LinkTime& each : times) {
    const Duration delay = each.time - usual;
    if (delay < kDelayMin || delay < each.spread * kSpreads) continue;
    found.push_back({.link = places_.link_at(each.place), .delay = delay});
  }
}

std::vector<SlowLink> DelayJudge::slow(Instant now) const {
  std::vector<SlowLink> found;
  find(true, now, found);
  find(false, now, found);
  return found;
}

}  // namespace openmrc::mapper
