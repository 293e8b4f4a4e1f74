// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/judge.h"

#include <algorithm>
#include <bit>

namespace openmrc::mapper {
namespace {

Plane plane_at(std::uint32_t number) { return Plane(static_cast<std::uint8_t>(number)); }

}  // namespace

Judge::Judge(const ProbePlan& plan, double least_loss, Duration hold) : plan_(plan), places_(plan) {
  const std::uint64_t planes = plan.planes();
  const std::uint64_t uplinks = plan.uplinks();
  host_link_rules_ = {.near_candidates = planes, .least_loss = least_loss, .hold = hold};
  uplink_rules_ = {.near_candidates = uplinks,
                   .peer_candidates = planes * uplinks,
                   .least_loss = least_loss,
                   .hold = hold};
  watches_.resize(places_.count());
  watched_.resize(planes);
  seen_.resize(watches_.size());
  is_seen_.resize(watches_.size());
  for (std::uint32_t i = 0; i < planes; ++i) losses_[places_.of_host_link(i)] = {};
}

void Judge::add(const Batch& batch, Instant now) {
  rounds_.add(now, batch.rounds);
  observe(batch);
  std::ranges::sort(seen_places_);
  compare();
  for (const std::size_t i : seen_places_) {
    remember(i, now);
    judge(i, batch, now);
  }
  for (const std::size_t i : seen_places_) {
    seen_[i] = {};
    is_seen_[i] = false;
  }
  seen_places_.clear();
}

bool Judge::is_quiet(const Batch& batch, Plane plane) const {
  const auto loses = [](const Batch::Bits& bits) { return bits.lost() != 0; };
  return watched_[plane.raw()] == 0 && std::ranges::none_of(batch.planes[plane.raw()], loses);
}

void Judge::skim(const Batch& batch, Plane plane) {
  const auto sent = [&](ProbeKind kind) { return batch.of(plane, kind).sent; };
  const auto count = [](std::uint64_t bits) {
    return static_cast<std::uint64_t>(std::popcount(bits));
  };
  watches_[places_.of_host_link(plane.raw())].add_sent(count(sent(ProbeKind::kT0)));
  quiet_host_links_.sent += count(sent(ProbeKind::kT0));
  if (plan_.uplinks() == 0) return;
  quiet_uplinks_.sent += count(sent(ProbeKind::kT1));
  std::uint32_t uplink = plan_.uplink_of(batch.first_round, plane);
  for (std::uint32_t i = 0; i < batch.rounds; ++i) {
    watches_[places_.of_uplink(plane.raw(), uplink)].add_sent(sent(ProbeKind::kT1) >> i & 1);
    uplink = uplink + 1 == plan_.uplinks() ? 0 : uplink + 1;
  }
}

void Judge::observe(const Batch& batch) {
  quiet_host_links_ = {};
  quiet_uplinks_ = {};
  for (std::uint32_t i = 0; i < plan_.planes(); ++i) {
    if (is_quiet(batch, plane_at(i))) {
      skim(batch, plane_at(i));
      continue;
    }
    for (const ProbeKind kind : {ProbeKind::kT0, ProbeKind::kT1, ProbeKind::kFar}) {
      observe(batch, plane_at(i), kind);
    }
  }
}

Observation& Judge::seen_at(std::size_t place) {
  if (!is_seen_[place]) seen_places_.push_back(place);
  is_seen_[place] = true;
  return seen_[place];
}

void Judge::observe(const Batch& batch, Plane plane, ProbeKind kind) {
  const Batch::Bits& bits = batch.of(plane, kind);
  for (std::uint32_t i = 0; i < batch.rounds; ++i) {
    if ((bits.sent >> i & 1) == 0) continue;
    const auto path = plan_.path(batch.first_round + i, plane, kind);
    if (!path) continue;
    const Tally tally{.sent = 1, .lost = bits.lost() >> i & 1};
    switch (kind) {
      case ProbeKind::kT0: seen_at(places_.of_host_link(plane.raw())).own += tally; break;
      case ProbeKind::kT1: seen_at(places_.of_uplink(plane.raw(), path->out)).own += tally; break;
      case ProbeKind::kFar: observe_far(*path, tally); break;
    }
  }
}

// It tells the directions of the one link, unless the other loses packets itself.
void Judge::observe_far(const ProbePath& path, const Tally& tally) {
  const std::size_t out = places_.of_uplink(path.plane.raw(), path.out);
  const std::size_t back = places_.of_uplink(path.plane.raw(), path.back);
  const std::uint32_t partner = plan_.partner_of(path.far_rack);
  if (!watches_[back].is_suspect()) seen_at(out).one_way.up[partner] += tally;
  if (!watches_[out].is_suspect()) seen_at(back).one_way.down[partner] += tally;
}

// What each link is compared with: links that are bad are no measure.
void Judge::compare() {
  Tally host_links = quiet_host_links_;
  Tally uplinks = quiet_uplinks_;
  const auto is_counted = [&](std::size_t i) {
    return !watches_[places_.host_link_of(i)].is_bad() && !watches_[i].is_bad();
  };
  for (const std::size_t i : seen_places_) {
    if (is_counted(i)) (places_.is_host_link(i) ? host_links : uplinks) += seen_[i].own;
  }
  for (const std::size_t i : seen_places_) {
    Observation& seen = seen_[i];
    Tally others = places_.is_host_link(i) ? host_links : uplinks;
    if (is_counted(i)) others -= seen.own;
    if (!places_.is_host_link(i)) {
      seen.near = seen_[places_.host_link_of(i)].own;
      seen.peers = others;
    } else {
      // A single plane has nothing beside it; then losses are taken for its own if they go on.
      seen.near = plan_.planes() > 1 ? others : Tally{.sent = seen.own.sent};
    }
  }
}

// For those who compare what several agents have seen. What the host's own link may have lost is
// no loss of an uplink.
void Judge::remember(std::size_t place, Instant now) {
  const Observation& seen = seen_[place];
  Tally up;
  Tally down;
  for (const Tally& each : seen.one_way.up) up += each;
  for (const Tally& each : seen.one_way.down) down += each;
  if (seen.own.lost + up.lost + down.lost == 0) return;
  LossHistory& history = losses_[place];
  if (!places_.is_host_link(place) && seen.near.lost > 0) return;
  history.both.add(now, seen.own.lost);
  history.up.add(now, up.lost);
  history.down.add(now, down.lost);
}

void Judge::judge(std::size_t place, const Batch& batch, Instant now) {
  const Observation& seen = seen_[place];
  LinkWatch& watch = watches_[place];
  if (!watch.is_watched() && seen.own.lost == 0) {
    watch.add_sent(seen.own.sent);
    return;
  }
  const bool was_bad = watch.is_bad();
  const std::size_t plane = place / places_.per_plane();
  watched_[plane] -= watch.is_watched() ? 1U : 0U;
  watch.add(seen, places_.is_host_link(place) ? host_link_rules_ : uplink_rules_, batch.started,
            now);
  watched_[plane] += watch.is_watched() ? 1U : 0U;
  if (was_bad || !watch.is_bad()) return;
  // Until now, far probes over this link were held against others of the plane.
  const std::size_t first = plane * places_.per_plane();
  for (std::size_t i = first; i < first + places_.per_plane(); ++i) {
    if (i != place) watches_[i].forget_directions();
  }
}

std::vector<Verdict> Judge::verdicts() const {
  std::vector<Verdict> found;
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    if (places_.is_host_link(i) && watched_[i / places_.per_plane()] == 0) {
      i += places_.per_plane() - 1;
      continue;
    }
    const Suspicion* verdict = watches_[i].verdict();
    if (verdict == nullptr) continue;
    found.push_back({.link = places_.link_at(i),
                     .direction = verdict->direction(),
                     .loss = verdict->own.loss(),
                     .seen = verdict->total,
                     .since = verdict->since});
  }
  return found;
}

std::vector<LinkTally> Judge::tallies(Instant now) const {
  std::vector<LinkTally> all;
  all.reserve(losses_.size());
  for (const auto& [place, history] : losses_) {
    all.push_back({.link = places_.link_at(place),
                   .tally = watches_[place].total(),
                   .recent = {.both = history.both.at(now),
                              .up = history.up.at(now),
                              .down = history.down.at(now)}});
  }
  return all;
}

std::vector<Tally> Judge::uplink_tallies() const {
  std::vector<Tally> by_plane(plan_.planes());
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    if (!places_.is_host_link(i)) by_plane[i / places_.per_plane()] += watches_[i].total();
  }
  return by_plane;
}

}  // namespace openmrc::mapper
