// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/requestor/probe_clock.h"

#include <algorithm>

#include "openmrc/core/context/context.h"
#include "openmrc/core/context/limits.h"
#include "openmrc/core/requestor/timestamps.h"

namespace openmrc::core {
namespace {

// Further probes come at doubling distances, up to this factor (REL-62).
constexpr unsigned kBackoffMax = 6;

}  // namespace

Instant ProbeClock::deadline(Instant quiet_since, Instant overdue, Duration rtt) const {
  const unsigned beyond = std::max<unsigned>(in_row_, kProbesBeforeBackoff - 1);
  const unsigned doublings = std::min(beyond - (kProbesBeforeBackoff - 1), kBackoffMax);
  const Duration distance = rtt * 2 * (std::int64_t{1} << doublings);
  const Instant due = awaited_ ? std::max(quiet_since, sent_) + distance
                               : std::min(quiet_since + distance, overdue);
  return std::max(due, place_);
}

bool ProbeClock::has_place(Peer& peer, Instant now) {
  if (place_ == Instant{}) {
    const Instant place = std::max(now, peer.next_probe);
    peer.next_probe = place + peer.congestion.rtt() / kProbesPerRoundTrip;
    if (place > now) place_ = place;
    return place <= now;
  }
  place_ = Instant{};
  return true;
}

std::uint16_t ProbeClock::send(Instant now) {
  awaited_ = true;
  sent_ = now;
  if (in_row_ < 0xff) ++in_row_;
  return ++id_;
}

std::optional<Instant> ProbeClock::sent_at(Instant now, wire::ProbeId id,
                                           std::uint16_t tx_ticks) const {
  const auto behind = static_cast<std::uint16_t>(id_ - id.raw());
  if (!awaited_ || behind >= kProbesBeforeBackoff) return std::nullopt;
  if (behind == 0) return sent_;
  return std::min(now - time_since(now, tx_ticks, now - sent_), sent_);
}

}  // namespace openmrc::core
