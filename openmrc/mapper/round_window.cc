// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/round_window.h"

#include <algorithm>
#include <utility>

#include "openmrc/base/check.h"

namespace openmrc::mapper {

bool loses_in_all_planes(const Batch& batch) {
  const auto loses = [](const auto& kinds) {
    return kinds[static_cast<std::size_t>(ProbeKind::kT0)].lost() != 0;
  };
  return batch.planes.size() > 1 && std::ranges::all_of(batch.planes, loses);
}

void RoundWindow::begin_round(std::uint64_t round, Instant now) {
  if (open_.empty() || open_.back().rounds == rounds_per_batch_) {
    Batch& batch = open_.emplace_back();
    batch.first_round = round;
    batch.started = now;
    batch.planes.resize(planes_);
  }
  Batch& batch = open_.back();
  OPENMRC_DCHECK(round == batch.first_round + batch.rounds, "rounds follow each other");
  ++batch.rounds;
  batch.last_sent = now;
}

void RoundWindow::sent(Plane plane, ProbeKind kind) {
  Batch& batch = open_.back();
  batch.planes[plane.raw()][static_cast<std::size_t>(kind)].sent |= std::uint64_t{1}
                                                                    << (batch.rounds - 1);
}

RoundWindow::Reply RoundWindow::replied(std::uint64_t round, Plane plane, ProbeKind kind,
                                        Duration time) {
  if (plane.raw() >= planes_) return Reply::kUnknown;
  for (Batch& batch : open_) {
    if (round < batch.first_round) return Reply::kLate;
    if (round - batch.first_round >= batch.rounds) continue;
    Batch::Bits& bits = batch.planes[plane.raw()][static_cast<std::size_t>(kind)];
    const std::uint64_t bit = std::uint64_t{1} << (round - batch.first_round);
    if ((bits.sent & bit) == 0) return Reply::kUnknown;
    if ((bits.replied & bit) != 0) return Reply::kAgain;
    bits.replied |= bit;
    const auto number = static_cast<std::uint8_t>(round - batch.first_round);
    batch.round_trips.push_back({.plane = plane, .kind = kind, .round = number, .time = time});
    return Reply::kTaken;
  }
  return open_.empty() ? Reply::kLate : Reply::kUnknown;
}

void RoundWindow::spoil() {
  for (Batch& batch : open_) batch.noise = Batch::Noise::kHostLate;
}

std::optional<Batch> RoundWindow::close(Instant now) {
  if (open_.empty()) return std::nullopt;
  const Batch& oldest = open_.front();
  if (oldest.rounds < rounds_per_batch_ || now < oldest.last_sent + timeout_) return std::nullopt;
  Batch batch = std::move(open_.front());
  open_.pop_front();
  if (batch.noise == Batch::Noise::kNone && loses_in_all_planes(batch)) {
    batch.noise = Batch::Noise::kAllPlanes;
  }
  return batch;
}

}  // namespace openmrc::mapper
