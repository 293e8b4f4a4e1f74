// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/suspicion.h"

#include <algorithm>
#include <cmath>

namespace openmrc::mapper {
namespace {

constexpr std::uint32_t kBatchesMin = 2;  // one may be a flap that is over
// Beyond this loss no comparison with peers is asked for: congestion and busy hosts lose less, and
// many links may be cut at once.
constexpr double kHeavyLoss = 0.5;
constexpr double kWithdrawn = 0.01;        // a verdict that is likelier than this to be chance
constexpr std::uint64_t kRecentMax = 256;  // losses, before old ones count half
// A link is good again after as many probes in a row as would have lost so many.
constexpr std::uint64_t kLossesMissed = 10;
// Where all links lose some there may be no such row. Then its losses must have fallen to a third,
// and be like those of others.
constexpr double kRarer = 3;
constexpr double kRarerEvidence = 15;
constexpr std::uint64_t kCleanMin = 20;

std::array<double, 3> limits_of(const JudgementRules& rules) {
  return {0.05, 0.002, rules.least_loss};
}

void add(OneWay& to, const OneWay& from) {
  for (std::size_t i = 0; i < kPartnersMax; ++i) {
    to.up[i] += from.up[i];
    to.down[i] += from.down[i];
  }
}

void let_old_fade(Suspicion& it) {
  if (it.own.lost < kRecentMax) return;
  for (Tally* each : {&it.own, &it.near, &it.peers}) each->halve();
  for (Tally& each : it.one_way.up) each.halve();
  for (Tally& each : it.one_way.down) each.halve();
  it.sent_until_loss /= 2;
}

void watch_lull(Suspicion& it, const Observation& seen, Instant now) {
  it.lull.own += seen.own;
  it.lull.others += seen.peers.sent > 0 ? seen.peers : seen.near;
  if (it.lull.evidence() <= 0) it.lull = {.since = now, .before = it.own};
}

void count(Suspicion& it, const Observation& seen, Instant now) {
  it.total += seen.own;
  it.own += seen.own;
  it.near += seen.near;
  it.peers += seen.peers;
  add(it.one_way, seen.one_way);
  watch_lull(it, seen, now);
  if (seen.own.lost == 0) {
    it.sent_since_loss += seen.own.sent;
    return;
  }
  ++it.batches;
  it.last_loss = now;
  it.sent_until_loss += it.sent_since_loss + seen.own.sent;
  it.sent_since_loss = 0;
  let_old_fade(it);
}

bool is_clean_again(const Suspicion& it) {
  if (it.own.lost < kLossesMin) return false;
  const std::uint64_t usual = kLossesMissed * it.sent_until_loss / it.own.lost;
  return it.sent_since_loss >= std::max(kCleanMin, usual);
}

bool is_like_others_again(const Suspicion& it) {
  return it.lull.before.lost >= kLossesMissed && it.lull.evidence() >= kRarerEvidence &&
         it.lull.own.loss() < kTimesGood * it.lull.others.loss();
}

bool is_good_again(const Suspicion& it, Duration hold, Instant now) {
  return (is_clean_again(it) && now - it.last_loss >= hold) ||
         (is_like_others_again(it) && now - it.lull.since >= hold);
}

bool is_over(const Suspicion& it, double limit, const JudgementRules& rules, Instant now) {
  if (it.is_bad) return is_good_again(it, rules.hold, now);
  const double too_rare = static_cast<double>(it.own.lost + kLossesMin) / limit;
  return is_good_again(it, {}, now) || static_cast<double>(it.own.sent) > too_rare;
}

bool is_its_own(const Suspicion& it, const JudgementRules& rules) {
  if (it.own.lost < kLossesMin || it.batches < kBatchesMin) return false;
  if (!stands_out(it.own, it.near, rules.near_candidates)) return false;
  if (it.own.loss() >= kHeavyLoss || it.peers.sent == 0) return true;
  return it.own.loss() >= kTimesBad * it.peers.loss() &&
         stands_out(it.own, it.peers, rules.peer_candidates);
}

bool stays_bad(const Suspicion& it) {
  return chance_of(it.own, it.near) <= kWithdrawn && it.own.loss() > kTimesGood * it.peers.loss();
}

// The partner with the least losses: what it adds itself is the least.
std::size_t best_partner(const OneWay& ways) {
  std::size_t best = 0;
  double least = 2;
  for (std::size_t i = 0; i < kPartnersMax; ++i) {
    Tally both = ways.up[i];
    both += ways.down[i];
    if (ways.up[i].sent == 0 || ways.down[i].sent == 0 || both.loss() >= least) continue;
    best = i;
    least = both.loss();
  }
  return best;
}

}  // namespace

double Lull::evidence() const {
  const double expected = before.loss() * static_cast<double>(own.sent);
  return expected * (1 - 1 / kRarer) - static_cast<double>(own.lost) * std::log(kRarer);
}

Direction Suspicion::direction() const {
  const std::size_t partner = best_partner(one_way);
  return direction_of(one_way.up[partner], one_way.down[partner]);
}

const Suspicion* LinkWatch::verdict() const {
  if (!suspicions_) return nullptr;
  for (const auto& each : *suspicions_) {
    if (each && each->is_bad) return &*each;
  }
  return nullptr;
}

bool LinkWatch::is_suspect() const {
  if (!suspicions_) return false;
  const auto& quickest = suspicions_->front();
  return is_bad() || (quickest && quickest->own.lost >= kLossesMin);
}

void LinkWatch::forget_directions() {
  if (!suspicions_) return;
  for (auto& each : *suspicions_) {
    if (each) each->one_way = {};
  }
}

void LinkWatch::add(const Observation& seen, const JudgementRules& rules, Instant started,
                    Instant now) {
  total_ += seen.own;
  if (!suspicions_) {
    if (seen.own.lost == 0) return;
    suspicions_ = std::make_unique<Suspicions>();
  }
  const auto limits = limits_of(rules);
  for (std::size_t i = 0; i < kLevels; ++i) {
    if (!update((*suspicions_)[i], limits[i], seen, rules, started, now)) continue;
    // What a quick one explains is not counted by the slower ones; if it is over, nor is what they
    // had counted before.
    if (!(*suspicions_)[i]) *suspicions_ = {};
    break;
  }
  const auto is_there = [](const auto& each) { return each.has_value(); };
  if (std::ranges::none_of(*suspicions_, is_there)) suspicions_.reset();
}

// Whether it is, or was until now, bad.
bool LinkWatch::update(std::optional<Suspicion>& suspicion, double limit, const Observation& seen,
                       const JudgementRules& rules, Instant started, Instant now) {
  if (!suspicion) {
    if (seen.own.lost == 0) return false;
    suspicion = Suspicion{.since = started};
  }
  count(*suspicion, seen, now);
  const bool was_bad = suspicion->is_bad;
  if (is_over(*suspicion, limit, rules, now)) {
    suspicion.reset();
    return was_bad;
  }
  if (was_bad) {
    suspicion->is_bad = stays_bad(*suspicion);
  } else {
    suspicion->is_bad = is_its_own(*suspicion, rules);
  }
  return was_bad || suspicion->is_bad;
}

}  // namespace openmrc::mapper
