// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/ev_prober.h"

#include <algorithm>

namespace openmrc::core {
namespace {

// A probe is not lost before its answer could be here.
Duration patience(Duration interval, Duration rtt) {
  return std::max({interval, rtt * 2, microseconds(1)});
}

}  // namespace

void EvProber::add(EvIndex ev, Instant now, Duration rtt) {
  remove(ev);
  bad_.push_back({.next = now + rtt, .interval = rtt, .ev = ev});
}

void EvProber::remove(EvIndex ev) {
  std::erase_if(bad_, [ev](const BadEv& bad) { return bad.ev == ev; });
}

void EvProber::start_again(PlaneRange evs, Instant now, Duration rtt) {
  for (BadEv& bad : bad_) {
    if (bad.ev.raw() < evs.first || bad.ev.raw() >= evs.first + evs.count) continue;
    bad = {.next = now + rtt, .interval = rtt, .ev = bad.ev};
  }
}

std::optional<EvIndex> EvProber::next_due(Instant now, Duration rtt,
                                          const ProbeSettings& settings) {
  for (BadEv& bad : bad_) {
    if (bad.next > now) continue;
    if (bad.awaited) {
      bad.clean = 0;
      bad.interval = std::min(bad.interval * 2, settings.interval_max);
    }
    bad.awaited = true;
    bad.next = now + patience(bad.interval, rtt);
    return bad.ev;
  }
  return std::nullopt;
}

bool EvProber::answered(EvIndex ev, Instant now, Duration rtt, const ProbeSettings& settings) {
  const auto found =
      std::find_if(bad_.begin(), bad_.end(), [ev](const BadEv& bad) { return bad.ev == ev; });
  if (found == bad_.end()) return false;
  if (found->awaited) {
    found->awaited = false;
    found->interval = rtt;
    found->next = now + rtt;
    ++found->clean;
  }
  if (found->clean < settings.probe_successes) return false;
  bad_.erase(found);
  return true;
}

Instant EvProber::next_time() const {
  Instant earliest = kNever;
  for (const BadEv& bad : bad_) earliest = std::min(earliest, bad.next);
  return earliest;
}

}  // namespace openmrc::core
