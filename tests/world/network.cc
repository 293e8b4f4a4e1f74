// SPDX-License-Identifier: BSD-3-Clause
#include "tests/world/network.h"

#include <algorithm>
#include <utility>

#include "openmrc/wire/encode.h"
#include "openmrc/wire/trim.h"

namespace openmrc::test {
namespace {

bool comes_later(const Delivery& a, const Delivery& b) {
  return a.when != b.when ? a.when > b.when : a.order > b.order;
}

// ECN: the two low bits of the traffic class of the outermost IPv6 header.
void mark_congested(std::vector<std::byte>& bytes) { bytes[1] |= std::byte{0x30}; }
bool is_ecn_capable(const std::vector<std::byte>& bytes) {
  return (bytes[1] & std::byte{0x30}) != std::byte{0};
}

std::size_t slot(Side side, Plane plane) { return plane.raw() * 2u + index_of(side); }

// What became of a packet on its way.
struct Fate {
  bool vanished = false;
  bool corrupted = false;
  bool duplicated = false;
  bool marked = false;
  bool attacked = false;
  std::optional<wire::TrimPlace> trimmed;
  Duration later{};
  Duration copy_later{};
};

}  // namespace

Network::Network(const WorldOptions& options)
    : options_(&options),
      rng_(Rng(options.seed).fork(1)),
      on_path_(Rng(options.seed).fork(3)),
      burst_left_(options.planes * 2, 0),
      port_free_(options.planes * 2) {}

bool Network::applies(const Fault& fault, Instant now, Side side, Plane plane,
                      std::optional<core::EvIndex> ev) const {
  if (now < Instant{} + fault.from || now >= Instant{} + fault.to) return false;
  if (fault.plane && *fault.plane != plane) return false;
  if (fault.ev && fault.ev != ev) return false;
  // A port that is down carries nothing either way.
  return fault.kind == FaultKind::kPortDown || !fault.side || *fault.side == side;
}

Duration Network::random_up_to(std::int64_t ns) {
  return Duration(static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(ns))));
}

std::vector<std::byte> Network::fresh_bytes(std::size_t size) {
  std::vector<std::byte> bytes;
  if (!spare_.empty()) {
    bytes = std::move(spare_.back());
    spare_.pop_back();
  }
  bytes.resize(size);
  return bytes;
}

void Network::take_port(Instant now, Side side, Plane plane, std::size_t size) {
  if (!limits_rate()) return;
  const std::int64_t ns =
      static_cast<std::int64_t>(size) * 8 * 1'000'000'000 / options_->port_bits_per_second;
  port_free_[slot(side, plane)] = std::max(now, port_free_[slot(side, plane)]) + Duration(ns);
}

void Network::send(Instant now, Side side, const core::Transmit& transmit,
                   std::optional<core::EvIndex> ev, bool forged) {
  const Plane plane = transmit.plane;
  Fate fate;
  for (const Fault& fault : options_->faults) {
    if (!applies(fault, now, side, plane, ev)) continue;
    if (fault.kind == FaultKind::kForge) continue;  // is Forger's
    if (is_by_chance(fault.kind) && !rng_.chance(fault.chance)) continue;
    switch (fault.kind) {
      case FaultKind::kBurstLoss: burst_left_[slot(side, plane)] = fault.amount; [[fallthrough]];
      case FaultKind::kLoss:
      case FaultKind::kBlackHole:
      case FaultKind::kPortDown: fate.vanished = true; break;
      case FaultKind::kReorder: fate.later += random_up_to(fault.amount); break;
      case FaultKind::kSlowPath: fate.later += Duration(fault.amount); break;
      case FaultKind::kDuplicate:
        fate.duplicated = true;
        fate.copy_later = random_up_to(fault.amount);
        break;
      case FaultKind::kCorrupt: fate.corrupted = true; break;
      case FaultKind::kTrim: fate.trimmed = wire::TrimPlace::kOnPath; break;
      case FaultKind::kTrimLastHop: fate.trimmed = wire::TrimPlace::kLastHop; break;
      case FaultKind::kMark: fate.marked = true; break;
      case FaultKind::kOnPath: fate.attacked = true; break;
      default: break;  // hosts' matters
    }
  }
  if (burst_left_[slot(side, plane)] > 0) {
    --burst_left_[slot(side, plane)];
    fate.vanished = true;
  }

  static const wire::WireSettings kSettings{};
  std::vector<std::byte> bytes = fresh_bytes(wire::encoded_size(transmit.packet));
  wire::encode_packet(transmit.packet, kSettings, bytes);
  digest_ = (digest_ ^ static_cast<std::uint64_t>(now.ns())) * 0x100000001b3;
  for (std::size_t i = 0; i < std::min<std::size_t>(bytes.size(), 160); ++i) {
    digest_ = (digest_ ^ std::to_integer<std::uint64_t>(bytes[i])) * 0x100000001b3;
  }
  if (!forged) take_port(now, side, plane, bytes.size());
  if (fate.vanished) return spare_.push_back(std::move(bytes));
  if (fate.trimmed) {
    if (const auto size = wire::trim_packet(bytes, *fate.trimmed, kSettings.dscp)) {
      bytes.resize(*size);
    }
  }
  if (fate.marked && is_ecn_capable(bytes)) mark_congested(bytes);
  if (fate.corrupted) corrupt(bytes);
  OnPath::Outcome attack;
  if (fate.attacked) attack = on_path_.attack(side, bytes);
  if (attack.dropped) return spare_.push_back(std::move(bytes));
  Instant when = limits_rate() && !forged ? port_free_[slot(side, plane)] : now;
  when = when + options_->delay + fate.later + attack.later;
  if (options_->jitter > Duration{}) {
    when = when + random_up_to(options_->jitter.raw());
  }
  if (attack.repeated) {
    deliver({.when = when,
             .to = other(side),
             .plane = plane,
             .bytes = *std::move(attack.repeated),
             .forged = true});
  }
  if (fate.duplicated) {
    deliver({.when = when + fate.copy_later,
             .to = other(side),
             .plane = plane,
             .bytes = bytes,
             .forged = forged});
  }
  deliver({.when = when,
           .to = other(side),
           .plane = plane,
           .bytes = std::move(bytes),
           .forged = forged || attack.changed});
}

void Network::corrupt(std::vector<std::byte>& bytes) {
  for (std::uint64_t flips = rng_.between(1, 4); flips > 0; --flips) {
    bytes[rng_.below(bytes.size())] ^= static_cast<std::byte>(1u << rng_.below(8));
  }
}

void Network::deliver(Delivery delivery) {
  delivery.order = ++order_;
  heap_.push_back(std::move(delivery));
  std::push_heap(heap_.begin(), heap_.end(), comes_later);
}

std::optional<Instant> Network::next_arrival() const {
  if (heap_.empty()) return std::nullopt;
  return heap_.front().when;
}

std::optional<Delivery> Network::take_arrival(Instant now) {
  if (heap_.empty() || heap_.front().when > now) return std::nullopt;
  std::pop_heap(heap_.begin(), heap_.end(), comes_later);
  Delivery delivery = std::move(heap_.back());
  heap_.pop_back();
  return delivery;
}

core::PlaneMask Network::free_ports(Instant now, Side side) const {
  core::PlaneMask free;
  for (std::size_t p = 0; p < options_->planes; ++p) {
    const Plane plane(static_cast<std::uint8_t>(p));
    if (port_free_[slot(side, plane)] <= now) free.add(plane);
  }
  return free;
}

Instant Network::next_free_port(Instant now, Side side) const {
  Instant next = core::kNever;
  for (std::size_t p = 0; p < options_->planes; ++p) {
    const Instant free = port_free_[slot(side, Plane(static_cast<std::uint8_t>(p)))];
    if (free > now) next = std::min(next, free);
  }
  return next;
}

}  // namespace openmrc::test
