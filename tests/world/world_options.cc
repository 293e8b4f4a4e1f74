// SPDX-License-Identifier: BSD-3-Clause
#include "tests/world/world_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

#include "tests/world/timeline.h"

namespace openmrc::test {
namespace {

template <class T, std::size_t kSize>
T one_of(Rng& rng, const T (&choices)[kSize]) {
  return choices[rng.below(kSize)];
}

constexpr Duration kTrafficSpan = microseconds(300);
constexpr Duration kFaultSpan = microseconds(600);

Duration random_time(Rng& rng, Duration span) {
  return nanoseconds(static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(span.raw()))));
}

void choose_network(Rng& rng, WorldOptions& options) {
  options.planes = one_of(rng, {1u, 1u, 2u, 3u, 4u, 8u});
  options.evs_per_plane = one_of(rng, {1u, 2u, 4u, 8u, 16u});
  options.active_per_plane = rng.chance({1, 3}) ? rng.between(1, options.evs_per_plane) : 0;
  const std::size_t evs = options.planes * options.evs_per_plane;
  options.min_active = std::max<std::size_t>(1, evs / one_of(rng, {2u, 4u, 8u}));
  options.srv6 = rng.chance({1, 4});
  options.delay = nanoseconds(static_cast<std::int64_t>(rng.between(500, 10'000)));
  if (rng.chance({1, 2})) options.jitter = random_time(rng, options.delay * 2);
  if (rng.chance({1, 4})) {
    options.port_bits_per_second = static_cast<std::int64_t>(rng.between(1, 100)) * 1'000'000'000;
  }
}

void choose_hosts(Rng& rng, WorldOptions& options) {
  options.queue_pairs = one_of(rng, {1u, 1u, 1u, 2u, 4u});
  options.recv.mtu = one_of(rng, {16u, 64u, 64u, 256u, 256u, 1024u});
  options.recv.mpr_dest = one_of<std::uint8_t>(rng, {1, 1, 2, 8});
  options.recv.max_wimm_dest = one_of<std::uint16_t>(rng, {1, 2, 4, 128});
  options.recv.dynamic_mpr = rng.chance({1, 3});
  options.recv.peer_sends_trim_nacks = !rng.chance({1, 8});
  options.send.mpr = options.recv.mpr_dest;
  options.send.max_wimm = options.recv.max_wimm_dest;
  options.send.timeout = one_of<std::uint8_t>(rng, {4, 5, 6, 8});
  options.send.linear_retries = static_cast<std::uint8_t>(rng.between(1, 7));
  options.send.exponential_retries = static_cast<std::uint8_t>(rng.between(3, 8));
  options.sack.threshold_bytes = one_of(rng, {1024u, 4096u, 16384u});
  options.sack.packet_bytes_min = one_of(rng, {64u, 1024u});
  options.starts_near_wrap = rng.chance({1, 2});
  const Duration rtt = options.delay * 2 + microseconds(1);
  if (rng.chance({1, 2})) {
    options.congestion = core::nscc_defaults(
        {.mtu = ByteCount(options.recv.mtu + 128),
         .base_rtt = rtt,
         .link_bits_per_second = static_cast<std::int64_t>(rng.between(1, 800)) * 1'000'000'000,
         .trimming = rng.chance({1, 2})});
  } else {
    options.congestion = core::FixedWindowSettings{
        .window = ByteCount(static_cast<std::int64_t>(options.recv.mtu + 128) *
                            one_of(rng, {1, 2, 8, 64, 512})),
        .base_rtt = rtt};
  }
}

// As software has it: packets of one path in a row, reports that are late, and a base RTT that
// somebody wrote down and nobody measures.
void choose_software(Rng rng, WorldOptions& options) {
  if (!rng.chance({1, 4})) return;
  options.ev_burst = one_of<std::uint8_t>(rng, {2, 8});
  const Duration rtt = options.delay * 2 + microseconds(1);
  if (rng.chance({1, 2})) options.reorder_floor = rtt;
  auto* nscc = std::get_if<core::NsccSettings>(&options.congestion);
  if (nscc == nullptr) return;
  nscc->measures_base_rtt = false;
  nscc->base_rtt = rtt * one_of(rng, {1, 4, 20});
}

void choose_traffic(Rng& rng, WorldOptions& options) {
  const bool both_ways = rng.chance({1, 2});
  const std::uint64_t packets_max = one_of(rng, {4u, 16u, 64u});
  for (std::uint64_t left = rng.between(1, 12); left > 0; --left) {
    const std::uint64_t packets = rng.between(1, packets_max);
    insert_by_time(
        options.writes,
        PlannedWrite{.side = both_ways && rng.chance({1, 2}) ? Side::kB : Side::kA,
                     .queue_pair = rng.below(options.queue_pairs),
                     .at = rng.chance({1, 2}) ? Duration{} : random_time(rng, kTrafficSpan),
                     .length = static_cast<std::uint32_t>(
                         rng.chance({1, 3}) ? packets * options.recv.mtu
                                            : rng.between(1, packets * options.recv.mtu)),
                     .immediate = rng.chance({1, 2})});
  }
}

// Mostly mild, sometimes brutal.
Ratio random_chance(Rng& rng) {
  constexpr Ratio kChances[] = {{1, 1000}, {1, 100}, {1, 50}, {1, 20}, {1, 8}, {1, 3}};
  return one_of(rng, kChances);
}

void choose_period(Rng& rng, Fault& fault) {
  fault.from = random_time(rng, kFaultSpan);
  const Duration longest = one_of(rng, {microseconds(20), microseconds(100), kFaultSpan});
  fault.to = fault.from + microseconds(1) + random_time(rng, longest);
}

Fault random_fault(Rng& rng, const WorldOptions& options) {
  Fault fault;
  fault.kind = static_cast<FaultKind>(rng.below(static_cast<std::uint64_t>(FaultKind::kForge)));
  if (rng.chance({1, 2})) fault.plane = Plane(static_cast<std::uint8_t>(rng.below(options.planes)));
  if (rng.chance({1, 3})) {
    fault.ev =
        core::EvIndex(static_cast<std::uint8_t>(rng.below(options.planes * options.evs_per_plane)));
  }
  if (rng.chance({1, 2})) fault.side = rng.chance({1, 2}) ? Side::kB : Side::kA;
  if (fault.kind < kFirstState) {
    fault.chance = random_chance(rng);
    if (rng.chance({1, 2})) choose_period(rng, fault);
    if (fault.kind == FaultKind::kBurstLoss) {
      fault.amount = static_cast<std::int64_t>(rng.between(2, 40));
    } else if (fault.kind == FaultKind::kReorder || fault.kind == FaultKind::kDuplicate) {
      fault.amount = static_cast<std::int64_t>(rng.between(100, 60'000));
    }
    return fault;
  }
  choose_period(rng, fault);
  if (!fault.side && fault.kind != FaultKind::kBlackHole && fault.kind != FaultKind::kSlowPath) {
    fault.side = rng.chance({1, 2}) ? Side::kB : Side::kA;
  }
  switch (fault.kind) {
    case FaultKind::kSlowPath:
      fault.amount = static_cast<std::int64_t>(rng.between(100, 60'000));
      break;
    case FaultKind::kPortDown:
    case FaultKind::kUnwelcome:
      fault.plane = Plane(static_cast<std::uint8_t>(rng.below(options.planes)));
      break;
    case FaultKind::kDeny:
      fault.ev = core::EvIndex(
          static_cast<std::uint8_t>(rng.below(options.planes * options.evs_per_plane)));
      break;
    case FaultKind::kShrinkMpr:
      fault.amount = static_cast<std::int64_t>(rng.between(1, options.recv.mpr_dest));
      break;
    case FaultKind::kPenalty: fault.amount = static_cast<std::int64_t>(rng.between(1, 127)); break;
    default: break;
  }
  return fault;
}

Fault random_forgery(Rng& rng) {
  Fault fault{.kind = FaultKind::kForge,
              .amount = static_cast<std::int64_t>(rng.below(kForgeryCount))};
  if (rng.chance({1, 2})) fault.side = rng.chance({1, 2}) ? Side::kB : Side::kA;
  constexpr Ratio kChances[] = {{1, 20}, {1, 3}, {1, 1}};
  fault.chance = one_of(rng, kChances);
  if (rng.chance({1, 2})) choose_period(rng, fault);
  return fault;
}

// Nobody knows it, and the guess is right or too short (CC-26).
void forget_base_rtt(Rng& rng, WorldOptions& options) {
  auto* nscc = std::get_if<core::NsccSettings>(&options.congestion);
  if (nscc == nullptr) return;
  nscc->base_rtt = nscc->base_rtt / one_of(rng, {1, 4, 32});
  nscc->learns_base_rtt = true;
}

std::string_view name_of(const core::CongestionSettings& settings) {
  const auto* nscc = std::get_if<core::NsccSettings>(&settings);
  if (nscc == nullptr) return "fixed window";
  return nscc->learns_base_rtt ? "NSCC that learns the base RTT" : "NSCC";
}

}  // namespace

WorldOptions random_world(std::uint64_t seed) {
  Rng rng(seed);
  WorldOptions options;
  options.seed = rng.next();
  choose_network(rng, options);
  choose_hosts(rng, options);
  choose_software(rng.fork(5), options);
  choose_traffic(rng, options);
  const std::uint64_t faults = rng.chance({1, 16}) ? 0 : rng.between(1, 6);
  for (std::uint64_t i = 0; i < faults; ++i) options.faults.push_back(random_fault(rng, options));
  if (rng.chance({1, 4})) options.faults.push_back(random_forgery(rng));
  if (rng.chance({1, 4})) forget_base_rtt(rng, options);
  return options;
}

WorldOptions attacked_world(std::uint64_t seed) {
  WorldOptions options = random_world(seed);
  Rng rng = Rng(seed).fork(4);
  Fault fault{.kind = FaultKind::kOnPath};
  if (rng.chance({1, 3})) fault.side = rng.chance({1, 2}) ? Side::kB : Side::kA;
  constexpr Ratio kChances[] = {{1, 50}, {1, 8}, {1, 3}, {1, 1}};
  fault.chance = one_of(rng, kChances);
  if (rng.chance({1, 2})) choose_period(rng, fault);
  // Whoever is on the path forges as he likes; and a forger who answers each packet that is
  // repeated with one of his own would make more of them for ever.
  std::erase_if(options.faults, [](const Fault& one) { return one.kind == FaultKind::kForge; });
  options.faults.push_back(fault);
  return options;
}

std::string describe(const WorldOptions& options) {
  std::string text = fmt::format(
      "  {} planes x {} EVs ({} active, floor {}){}, delay {} ns + {} ns, port rate {}\n"
      "  {} queue pairs, MTU {}, MPR {}, immediates {}, timeout {} linear {} exponential {}, "
      "{}{}{}, burst {}, reorder floor {} ns\n",
      options.planes, options.evs_per_plane, options.active_per_plane, options.min_active,
      options.srv6 ? " SRv6" : "", options.delay.raw(), options.jitter.raw(),
      options.port_bits_per_second, options.queue_pairs, options.recv.mtu, options.recv.mpr_dest,
      options.recv.max_wimm_dest, options.send.timeout, options.send.linear_retries,
      options.send.exponential_retries, name_of(options.congestion),
      options.recv.dynamic_mpr ? ", dynamic MPR" : "",
      options.starts_near_wrap ? ", PSNs wrap" : "", options.ev_burst, options.reorder_floor.raw());
  for (const PlannedWrite& write : options.writes) {
    text += fmt::format("  write {} queue pair {} at {} us: {} bytes{}\n",
                        write.side == Side::kA ? "A" : "B", write.queue_pair, write.at.raw() / 1000,
                        write.length, write.immediate ? " with immediate" : "");
  }
  for (const Fault& fault : options.faults) text += "  fault " + to_string(fault) + "\n";
  return text;
}

}  // namespace openmrc::test
