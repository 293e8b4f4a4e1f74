// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/path_health.h"

#include <algorithm>
#include <utility>

namespace openmrc::core {
namespace {

// The first failure holds nothing back, nor does the second one soon after: a burst of losses.
constexpr unsigned kScoreFree = 2;

// However often it failed, a path is tried again after this time.
constexpr Duration kHoldMax = seconds(1);

Duration hold_time(unsigned score, Duration rtt) {
  if (score <= kScoreFree) return {};
  return std::min(rtt * (std::int64_t{1} << score), kHoldMax);
}

}  // namespace

PathHealth::Record* PathHealth::find(PathIndex path) {
  const auto found = std::ranges::find(records_, path, &Record::path);
  return found == records_.end() ? nullptr : &*found;
}

unsigned PathHealth::score_now(const Record& record, const Missing& missing) {
  const auto delivered = static_cast<std::uint16_t>(missing.delivered - record.delivered);
  const unsigned made_up = delivered / kDeliveredPerLoss;
  return record.score > made_up ? record.score - made_up : 0;
}

bool PathHealth::tolerates(const Missing& missing) {
  Record* record = find(missing.path);
  if (record == nullptr) record = &records_.emplace_back(Record{.path = missing.path});
  if (record->next != kNever || score_now(*record, missing) > 0) return false;
  record->score = 1;
  record->delivered = missing.delivered;
  return true;
}

void PathHealth::take(const Missing& missing, bool suspect) {
  Record* record = find(missing.path);
  if (record == nullptr) record = &records_.emplace_back(Record{.path = missing.path});
  if (record->next != kNever) {  // it is disabled already
    record->suspect = record->suspect && suspect;
    return;
  }
  const unsigned score = score_now(*record, missing) + 1;
  *record = {.next = suspect ? missing.now : missing.now + missing.rtt,
             .held_until = missing.now + hold_time(score, missing.rtt),
             .interval = missing.rtt,
             .delivered = missing.delivered,
             .path = missing.path,
             .score = static_cast<std::uint8_t>(std::min(score, kScoreMax)),
             .suspect = suspect};
}

void PathHealth::release(PathIndex path) {
  if (Record* record = find(path)) record->next = kNever;
}

void PathHealth::acquit(PathIndex path) {
  Record* record = find(path);
  if (record == nullptr) return;
  record->next = kNever;
  --record->score;
  if (record->score == 0) {
    std::erase_if(records_, [path](const Record& one) { return one.path == path; });
  }
}

void PathHealth::start_again(PathRange paths, Instant now, Duration rtt) {
  for (Record& record : records_) {
    const bool is_meant = record.path.raw() >= paths.first &&
                          record.path.raw() < paths.first + paths.count && record.next != kNever;
    if (!is_meant) continue;
    record.next = now + rtt;
    record.interval = rtt;
    record.clean = 0;
    record.awaited = false;
    record.held_until = now;
  }
}

void PathHealth::hurry(Instant now, Duration rtt) {
  for (Record& record : records_) {
    if (record.next == kNever || record.next <= now + rtt * 4) continue;
    record.next = now + rtt;
    record.interval = rtt;
    record.held_until = now;
  }
}

std::optional<PathHealth::Probe> PathHealth::next_due(Instant now, Duration patience,
                                                      const ProbeSettings& settings) {
  for (Record& record : records_) {
    if (record.next > now) continue;
    Probe probe{.path = record.path};
    if (record.awaited) {
      record.clean = 0;
      record.interval = std::min(record.interval * 2, settings.interval_max);
      probe.confirms_failure = std::exchange(record.suspect, false);
    }
    record.awaited = true;
    record.next = now + std::max({record.interval, patience, microseconds(1)});
    return probe;
  }
  return std::nullopt;
}

bool PathHealth::answered(PathIndex path, Instant now, Duration rtt,
                          const ProbeSettings& settings) {
  Record* record = find(path);
  if (record == nullptr || record->next == kNever) return false;
  if (record->awaited) {
    record->awaited = false;
    record->interval = rtt;
    record->next = std::max(now + rtt, record->held_until);
    if (record->clean < 0xff) ++record->clean;
  }
  const unsigned wanted = record->suspect ? 1 : settings.probe_successes;
  if (record->clean < wanted || now < record->held_until) return false;
  record->next = kNever;
  return true;
}

Instant PathHealth::next_time() const {
  Instant earliest = kNever;
  for (const Record& record : records_) earliest = std::min(earliest, record.next);
  return earliest;
}

bool PathHealth::empty() const { return next_time() == kNever; }

}  // namespace openmrc::core
