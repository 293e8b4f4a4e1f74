// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapsim/agent.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace openmrc::mapsim {
namespace {

using mapper::Batch;
using mapper::ProbeKind;
using mapper::ProbePath;

constexpr std::array kKinds{ProbeKind::kT0, ProbeKind::kT1, ProbeKind::kFar};
// Links that the probes of a plane cross in a round, in each direction: those of a T0 probe, then
// of a T1 probe, then of a far one.
constexpr std::array<std::uint32_t, 3> kCrossings{2, 4, 6};
constexpr std::uint32_t kCrossingsOfAll = 12;
constexpr double kPauseMax = 2;  // seconds
constexpr double kBurstLossMin = 0.02;
constexpr double kBurstLossMax = 0.5;

ProbeKind kind_of_crossing(std::uint32_t crossing) {
  if (crossing < kCrossings[0]) return ProbeKind::kT0;
  return crossing < kCrossings[0] + kCrossings[1] ? ProbeKind::kT1 : ProbeKind::kFar;
}

Duration of_seconds(double seconds) { return Duration(static_cast<std::int64_t>(seconds * 1e9)); }

mapper::MapperSettings mapper_settings(const Settings& settings) {
  return {.rounds_per_second = settings.rounds_per_second};
}

}  // namespace

Agent::Agent(const Settings& settings, const FaultTable& faults, const fabric::UsidPlan& plan,
             fabric::HostIndex host)
    : settings_(settings),
      plan_(plan, host),
      judge_(plan_, mapper::MapperSettings{}.least_loss, mapper::MapperSettings{}.hold),
      rng_(Rng(settings.seed).fork(host.raw())) {
  const mapper::MapperSettings defaults = mapper_settings(settings);
  const Duration interval = seconds(1) / settings.rounds_per_second;
  batch_.rounds = mapper::rounds_per_batch(defaults);
  batch_.first_round = rng_.below(1'000'000);  // agents are started at different times
  batch_.planes.resize(plan_.planes());
  batch_length_ = interval * batch_.rounds;
  until_judged_ = interval * (batch_.rounds - 1) + defaults.timeout;
  next_ = Instant{} + of_seconds(draw() * static_cast<double>(batch_length_.raw()) / 1e9);
  crossings_left_ = draw_gap();
  for (std::uint32_t i = 0; i < plan_.planes(); ++i) {
    faults_.push_back(faults_in(faults, Plane(static_cast<std::uint8_t>(i))));
  }
}

double Agent::draw() {
  constexpr double kUnit = 0x1p-53;
  return static_cast<double>(rng_.next() >> 11) * kUnit;
}

// Trials before one of this chance succeeds: a geometric distribution.
std::uint64_t Agent::draw_gap() {
  if (settings_.base_loss <= 0) return ~std::uint64_t{0};
  const double gap = std::log1p(-draw()) / std::log1p(-settings_.base_loss);
  return static_cast<std::uint64_t>(std::min(gap, 1e18));
}

Agent::Faults Agent::faults_in(const FaultTable& faults, Plane plane) const {
  Faults found{.host_link = faults.loss_of(plan_.fabric().host_link(plan_.host(), plane)),
               .own = faults.uplinks_of(plane, plan_.rack())};
  for (std::uint32_t i = 0; i < plan_.partners(); ++i) {
    found.partners[i] = faults.uplinks_of(plane, plan_.partner_rack(i));
  }
  return found;
}

bool Agent::Faults::loses(ProbeKind kind) const {
  const auto is_there = [](const auto* each) { return each != nullptr; };
  if (host_link.up > 0 || host_link.down > 0) return true;
  if (kind == ProbeKind::kT0) return false;
  return own != nullptr || (kind == ProbeKind::kFar && std::ranges::any_of(partners, is_there));
}

void Agent::run_until(Instant now) {
  const double batch_seconds = static_cast<double>(batch_length_.raw()) / 1e9;
  for (; next_ + until_judged_ <= now; next_ = next_ + batch_length_) {
    if (draw() < settings_.pauses_per_second * batch_seconds) {
      paused_until_ = next_ + of_seconds(draw() * kPauseMax);
    }
    fill(next_);
    const bool is_noise = next_ < paused_until_ || mapper::loses_in_all_planes(batch_);
    if (is_noise) {
      counters_.rounds_left_out += batch_.rounds;
    } else {
      counters_.rounds_judged += batch_.rounds;
      judge_.add(batch_, next_ + until_judged_);
    }
    batch_.first_round += batch_.rounds;
  }
}

void Agent::fill(Instant started) {
  batch_.started = started;
  const std::uint64_t all = batch_.rounds == mapper::kRoundsPerBatchMax
                                ? ~std::uint64_t{0}
                                : (std::uint64_t{1} << batch_.rounds) - 1;
  const std::array<bool, 3> is_sent{true, plan_.uplinks() > 0, plan_.partners() > 0};
  for (std::uint32_t i = 0; i < plan_.planes(); ++i) {
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
      const std::uint64_t sent = is_sent[kind] ? all : 0;
      batch_.planes[i][kind] = {.sent = sent, .replied = sent};
    }
    lose_by_faults(Plane(static_cast<std::uint8_t>(i)), started);
  }
  lose_by_chance();
  const double batch_seconds = static_cast<double>(batch_length_.raw()) / 1e9;
  if (draw() < settings_.bursts_per_second * batch_seconds) lose_in_burst();
}

void Agent::lose(std::uint32_t plane, ProbeKind kind, std::uint32_t round) {
  batch_.planes[plane][static_cast<std::size_t>(kind)].replied &= ~(std::uint64_t{1} << round);
  ++counters_.lost;
}

double Agent::loss_on_the_way(const ProbePath& path, Instant now) const {
  const Faults& faults = faults_[path.plane.raw()];
  const LinkLoss& own = faults.host_link;
  double passes = (1 - own.up_at(now)) * (1 - own.down_at(now));
  if (path.kind != ProbeKind::kT0 && faults.own != nullptr) {
    passes *= 1 - (*faults.own)[path.out].up_at(now);
    passes *= 1 - (*faults.own)[path.back].down_at(now);
  }
  if (path.kind != ProbeKind::kFar) return 1 - passes;
  if (const auto* far = faults.partners[plan_.partner_of(path.far_rack)]) {
    passes *= 1 - (*far)[path.out].down_at(now);
    passes *= 1 - (*far)[path.back].up_at(now);
  }
  return 1 - passes;
}

void Agent::lose_by_faults(Plane plane, Instant now) {
  for (const ProbeKind kind : kKinds) {
    if (!faults_[plane.raw()].loses(kind)) continue;
    for (std::uint32_t i = 0; i < batch_.rounds; ++i) {
      const auto path = plan_.path(batch_.first_round + i, plane, kind);
      if (!path) break;
      const double loss = loss_on_the_way(*path, now);
      if (loss > 0 && draw() < loss) lose(plane.raw(), kind, i);
    }
  }
}

void Agent::lose_by_chance() {
  const std::uint64_t of_plane = std::uint64_t{batch_.rounds} * kCrossingsOfAll;
  const std::uint64_t all = of_plane * plan_.planes();
  std::uint64_t at = crossings_left_;
  while (at < all) {
    const auto in_round = static_cast<std::uint32_t>(at % kCrossingsOfAll);
    lose(static_cast<std::uint32_t>(at / of_plane), kind_of_crossing(in_round),
         static_cast<std::uint32_t>(at % of_plane / kCrossingsOfAll));
    at += 1 + draw_gap();
  }
  crossings_left_ = at - all;
}

void Agent::lose_in_burst() {
  const double loss = kBurstLossMin + draw() * (kBurstLossMax - kBurstLossMin);
  for (std::uint32_t plane = 0; plane < plan_.planes(); ++plane) {
    for (const ProbeKind kind : kKinds) {
      for (std::uint32_t i = 0; i < batch_.rounds; ++i) {
        if (draw() < loss) lose(plane, kind, i);
      }
    }
  }
}

mapper::MapReport Agent::report(Instant now) const {
  if (judge_.has_lost()) return mapper::report_of(plan_, judge_, now);
  return {.index = plan_.host(),
          .shape = plan_.fabric().shape(),
          .recent_rounds = judge_.recent_rounds(now)};
}

}  // namespace openmrc::mapsim
