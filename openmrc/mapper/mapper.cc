// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/mapper.h"

#include <algorithm>

#include "openmrc/base/check.h"

namespace openmrc::mapper {
namespace {

constexpr std::uint32_t kBatchesPerSecond = 8;
// Ticks in the time that a reply may take, and how many may be missed before this host is late.
constexpr std::int64_t kTicks = 5;
constexpr std::int64_t kTicksMissed = 2;

}  // namespace

std::uint32_t rounds_per_batch(const MapperSettings& settings) {
  return std::clamp(settings.rounds_per_second / kBatchesPerSecond, 1U, kRoundsPerBatchMax);
}

Mapper::Mapper(const ProbePlan& plan, const MapperSettings& settings, const ProbeKey& key)
    : plan_(plan),
      settings_(settings),
      key_(key),
      window_(plan.planes(), rounds_per_batch(settings), settings.timeout),
      judge_(plan, settings.least_loss, settings.hold),
      delays_(plan) {
  OPENMRC_CHECK(settings.rounds_per_second > 0, "a mapper that is off is not made");
}

Duration Mapper::interval() const { return seconds(1) / settings_.rounds_per_second; }

void Mapper::receive(Plane plane, ConstBytes bytes, Instant now) {
  const auto probe = read_probe(bytes, key_);
  if (!probe || probe->path.plane != plane) {
    ++counters_.foreign;
    return;
  }
  switch (window_.replied(probe->round, plane, probe->path.kind, now - probe->sent)) {
    case RoundWindow::Reply::kTaken: ++counters_.replied; return;
    case RoundWindow::Reply::kAgain: ++counters_.repeated; return;
    case RoundWindow::Reply::kLate: ++counters_.late; return;
    case RoundWindow::Reply::kUnknown: ++counters_.foreign; return;
  }
}

Instant Mapper::next_tick() const {
  return std::min(last_tick_ + settings_.timeout / kTicks, round_at_);
}

void Mapper::tick(Instant now) {
  const bool is_late = now - last_tick_ > settings_.timeout / kTicks * kTicksMissed;
  if (has_begun_ && is_late) window_.spoil();
  has_begun_ = true;
  last_tick_ = now;
  while (const auto batch = window_.close(now)) close(*batch, now);
}

void Mapper::close(const Batch& batch, Instant now) {
  switch (batch.noise) {
    case Batch::Noise::kNone:
      counters_.rounds_judged += batch.rounds;
      judge_.add(batch, now);
      delays_.add(batch, now);
      return;
    case Batch::Noise::kHostLate: counters_.rounds_host_late += batch.rounds; return;
    case Batch::Noise::kAllPlanes: counters_.rounds_all_planes += batch.rounds; return;
  }
}

// Rounds that were missed are not made up for: a burst would be lost where single probes are not.
std::span<const Mapper::Outgoing> Mapper::round(Instant now) {
  outgoing_.clear();
  if (now < round_at_) return {};
  round_at_ = now - round_at_ < interval() ? round_at_ + interval() : now + interval();
  const std::uint64_t number = next_round_++;
  ++counters_.rounds;
  window_.begin_round(number, now);
  for (const ProbeKind kind : {ProbeKind::kT0, ProbeKind::kT1, ProbeKind::kFar}) {
    for (std::uint32_t i = 0; i < plan_.planes(); ++i) {
      const auto path = plan_.path(number, Plane(static_cast<std::uint8_t>(i)), kind);
      if (!path) continue;
      Outgoing& out = outgoing_.emplace_back();
      out.path = *path;
      out.to = plan_.carrier(*path);
      write_probe({.path = *path, .round = number, .sent = now}, key_, out.bytes);
    }
  }
  return outgoing_;
}

void Mapper::sent(const ProbePath& path) {
  ++counters_.sent;
  window_.sent(path.plane, path.kind);
}

}  // namespace openmrc::mapper
