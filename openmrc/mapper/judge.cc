// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/judge.h"

#include <algorithm>

namespace openmrc::mapper {
namespace {

Plane plane_at(std::uint32_t number) { return Plane(static_cast<std::uint8_t>(number)); }

}  // namespace

Judge::Judge(const ProbePlan& plan, double least_loss, Duration hold) : plan_(plan) {
  const std::uint64_t planes = plan.planes();
  const std::uint64_t uplinks = plan.uplinks();
  host_link_rules_ = {.near_candidates = planes, .least_loss = least_loss, .hold = hold};
  uplink_rules_ = {.near_candidates = uplinks,
                   .peer_candidates = planes * uplinks,
                   .least_loss = least_loss,
                   .hold = hold};
  watches_.resize(planes * links_per_plane());
  seen_.resize(watches_.size());
}

fabric::LinkId Judge::link_at(std::size_t place) const {
  const auto plane = static_cast<std::uint32_t>(place / links_per_plane());
  if (is_host_link(place)) return plan_.fabric().host_link(plan_.host(), plane_at(plane));
  return {.kind = fabric::LinkId::Kind::kUplink,
          .plane = plane_at(plane),
          .rack = plan_.rack(),
          .port = static_cast<std::uint32_t>(place % links_per_plane() - 1)};
}

void Judge::add(const Batch& batch, Instant now) {
  observe(batch);
  compare();
  for (std::size_t i = 0; i < watches_.size(); ++i) judge(i, batch, now);
}

void Judge::observe(const Batch& batch) {
  std::ranges::fill(seen_, Observation{});
  for (std::uint32_t i = 0; i < plan_.planes(); ++i) {
    for (const ProbeKind kind : {ProbeKind::kT0, ProbeKind::kT1, ProbeKind::kFar}) {
      observe(batch, plane_at(i), kind);
    }
  }
}

void Judge::observe(const Batch& batch, Plane plane, ProbeKind kind) {
  const Batch::Bits& bits = batch.of(plane, kind);
  for (std::uint32_t i = 0; i < batch.rounds; ++i) {
    if ((bits.sent >> i & 1) == 0) continue;
    const auto path = plan_.path(batch.first_round + i, plane, kind);
    if (!path) continue;
    const Tally tally{.sent = 1, .lost = bits.lost() >> i & 1};
    switch (kind) {
      case ProbeKind::kT0: seen_[place(plane.raw())].own += tally; break;
      case ProbeKind::kT1: seen_[place(plane.raw(), path->out)].own += tally; break;
      case ProbeKind::kFar: observe_far(*path, tally); break;
    }
  }
}

// It tells the directions of the one link, unless the other loses packets itself.
void Judge::observe_far(const ProbePath& path, const Tally& tally) {
  const std::size_t out = place(path.plane.raw(), path.out);
  const std::size_t back = place(path.plane.raw(), path.back);
  const std::uint32_t partner = plan_.partner_of(path.far_rack);
  if (!watches_[back].is_suspect()) seen_[out].one_way.up[partner] += tally;
  if (!watches_[out].is_suspect()) seen_[back].one_way.down[partner] += tally;
}

// What each link is compared with: links that are bad are no measure.
void Judge::compare() {
  Tally host_links;
  Tally uplinks;
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    const bool host_link_is_bad = watches_[i - i % links_per_plane()].is_bad();
    if (host_link_is_bad || watches_[i].is_bad()) continue;
    (is_host_link(i) ? host_links : uplinks) += seen_[i].own;
  }
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    Observation& seen = seen_[i];
    const std::size_t host_link = i - i % links_per_plane();
    const bool counted = !watches_[host_link].is_bad() && !watches_[i].is_bad();
    Tally others = is_host_link(i) ? host_links : uplinks;
    if (counted) others -= seen.own;
    if (!is_host_link(i)) {
      seen.near = seen_[host_link].own;
      seen.peers = others;
    } else {
      // A single plane has nothing beside it; then losses are taken for its own if they go on.
      seen.near = plan_.planes() > 1 ? others : Tally{.sent = seen.own.sent};
    }
  }
}

void Judge::judge(std::size_t place, const Batch& batch, Instant now) {
  const Observation& seen = seen_[place];
  if (seen.own.sent == 0 && seen.one_way.up == OneWay{}.up && seen.one_way.down == OneWay{}.down) {
    return;
  }
  LinkWatch& watch = watches_[place];
  const bool was_bad = watch.is_bad();
  watch.add(seen, is_host_link(place) ? host_link_rules_ : uplink_rules_, batch.started, now);
  if (was_bad || !watch.is_bad()) return;
  // Until now, far probes over this link were held against others of the plane.
  const std::size_t first = place - place % links_per_plane();
  for (std::size_t i = first; i < first + links_per_plane(); ++i) {
    if (i != place) watches_[i].forget_directions();
  }
}

std::vector<Verdict> Judge::verdicts() const {
  std::vector<Verdict> found;
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    const Suspicion* verdict = watches_[i].verdict();
    if (verdict == nullptr) continue;
    found.push_back({.link = link_at(i),
                     .direction = verdict->direction(),
                     .loss = verdict->own.loss(),
                     .seen = verdict->total,
                     .since = verdict->since});
  }
  return found;
}

std::vector<LinkTally> Judge::tallies() const {
  std::vector<LinkTally> all;
  all.reserve(watches_.size());
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    all.push_back({.link = link_at(i), .tally = watches_[i].total()});
  }
  return all;
}

}  // namespace openmrc::mapper
