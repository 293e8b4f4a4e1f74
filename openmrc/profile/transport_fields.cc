// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/profile/transport_fields.h"

#include <array>

#include "openmrc/core/context/limits.h"

namespace openmrc::profile {
namespace {

using text::Field;
using text::Section;
using Kind = text::Field::Kind;

// In the order of the enumerators.
constexpr std::array<std::string_view, 2> kPresets{"nic", "software"};
static_assert(static_cast<int>(Preset::kSoftware) == 1);
constexpr std::array<std::string_view, 2> kPathPolicies{"spray", "round-robin"};
static_assert(static_cast<int>(core::PathPolicy::kRoundRobin) == 1);
constexpr std::array<std::string_view, 2> kAlgorithms{"nscc", "fixed"};
static_assert(static_cast<int>(CongestionAlgorithm::kFixed) == 1);

constexpr std::uint64_t kPortMax = 65'535;
constexpr std::uint64_t kRateMin = 1'000'000;
constexpr std::uint64_t kRateMax = 100'000'000'000'000;
constexpr std::uint64_t kQ16Max = 1u << 20;  // 16
constexpr std::uint64_t kSetsMax = 1u << 17;
constexpr std::uint64_t kLimitMax = 1u << 24;

constexpr std::uint64_t raw(Duration span) { return static_cast<std::uint64_t>(span.raw()); }
constexpr std::uint64_t raw(ByteCount bytes) { return static_cast<std::uint64_t>(bytes.raw()); }

// A value that follows from others unless it is given.
Field& derived(Field& field, std::string_view otherwise) {
  field.otherwise = otherwise;
  return field;
}

template <class T>
Field& optional_time(Section& section, std::string_view key, T& value, Duration least,
                     Duration most, std::string_view otherwise) {
  return derived(section.add(Field::number(Kind::kDuration, key, value, raw(least), raw(most))),
                 otherwise);
}

void add_paths(Section& section, TransportProfile& profile) {
  PathOptions& paths = profile.paths;
  section.whole("mtu", profile.mtu, core::kMtuMin, core::kMtuMax).description =
      "Payload bytes of a packet.";
  section.whole("evs", paths.evs, 1, core::kEvsPerProfileMax).description =
      "EVs of a connection, over all planes.";
  section.flag("distinct_evs", paths.distinct).description =
      "No two EVs over one path: fewer EVs where a plane has fewer paths.";
  section.whole("active_per_plane", paths.active_per_plane, 0, core::kEvsPerProfileMax)
      .description = "EVs in use in each plane, the others are backups; 0: all.";
  section.whole("min_active", paths.min_active, 0, core::kEvsPerProfileMax).description =
      "EVs that are never disabled for loss (ev_min_active).";
  section.whole("ev_sets", paths.sets, 1, kSetsMax).description =
      "Different sets of EVs; host n uses set n modulo this.";
  derived(section.whole("ev_seed", paths.seed, 0, text::kWholeMax),
          "the scenario's seed; on a host 1, and random with mode udp")
      .description = "Seed of the sets of EVs.";
  section.word("path_policy", profile.path_policy, kPathPolicies).description =
      "Which EV is next: at random without congested ones, or one after the other.";
  section.whole("burst", profile.burst, 1, core::kEvBurstMax).description =
      "Packets in a row on one EV; with UDP GSO they leave in one system call.";
}

void add_reliability(Section& section, TransportProfile& profile) {
  section.duration("reorder_floor", profile.reorder_floor, Duration{}, seconds(1)).description =
      "Least time by which a packet is overtaken before it is declared lost.";
  section.bytes("sack_threshold", profile.sack.threshold_bytes, 1, 1u << 30).description =
      "Payload bytes received that trigger a SACK; at least a burst.";
  section.bytes("sack_packet_min", profile.sack.packet_bytes_min, 0, 1u << 16).description =
      "What a smaller packet counts towards sack_threshold.";
  section.whole("probe_successes", profile.probe.probe_successes, 1, 255).description =
      "Probes answered in a row that restore a disabled path.";
  section.duration("probe_interval_max", profile.probe.interval_max, microseconds(10), seconds(60))
      .description = "Probes of a disabled path become rarer up to this interval.";
  section.whole("retry_timeout", profile.retry.timeout, 0, core::kTimeoutExponentMax).description =
      "Retransmission timeout: 1.024 us x 2^n.";
  section.whole("retry_linear", profile.retry.linear, 0, core::kLinearRetriesMax).description =
      "Retries at that interval.";
  section.whole("retry_exponential", profile.retry.exponential, 0, core::kExponentialRetriesMax)
      .description = "Further retries, each after twice the time; 25: without end.";
  section.whole("mpr", profile.mpr, 1, 255).description =
      "Max PSN range of a queue pair, in steps of 128.";
  section.flag("dynamic_mpr", profile.dynamic_mpr).description =
      "Both peers may change the MPR of a connection.";
  section.whole("max_wimm", profile.max_wimm, 1, 65'535).description =
      "WRITEs with immediate in flight on a queue pair.";
}

void add_congestion(Section& section, TransportProfile& profile) {
  CongestionOptions& options = profile.congestion;
  section.word("congestion", options.algorithm, kAlgorithms).description =
      "Congestion control: NSCC, or a fixed window.";
  optional_time(section, "base_rtt", options.base_rtt, microseconds(1), seconds(1),
                "of the fabric; on a host learned, 200us or more")
      .description = "Round trip without queues.";
  derived(section.rate("rate", options.bits_per_second, kRateMin, kRateMax),
          "of the fabric; 10gbit on a host")
      .description = "Of all ports of a host together.";
  derived(section.add(Field::number(Kind::kFlag, "trimming", options.trimming, 0, 1)),
          "of the fabric; false on a host")
      .description = "Whether switches trim packets.";
  derived(section.bytes("window", options.window, core::kMtuMin, 1u << 30), "rate x base_rtt")
      .description = "With congestion = \"fixed\": bytes in flight to one peer.";
  section.bytes("packet_weight_min", profile.packet_weight_min, 0, 1u << 16).description =
      "What a smaller packet takes of the congestion window.";
}

// UET 3.6.13.3, under the names of MRC's control interface.
void add_nscc(Section& section, NsccOptions& nscc) {
  using Limits = core::NsccLimits;
  constexpr std::string_view kDerived = "from base_rtt and rate";
  constexpr std::uint64_t kWindowMax = raw(Limits::kWindowMax);
  optional_time(section, "nscc_target_delay", nscc.target_delay, nanoseconds(1), Limits::kTimeMax,
                kDerived)
      .description = "Queueing delay that NSCC aims at.";
  derived(section.bytes("nscc_max_window", nscc.max_window, 1, kWindowMax), kDerived).description =
      "Largest window, and the first one.";
  derived(section.bytes("nscc_fi", nscc.fi, 0, kWindowMax), kDerived).description =
      "Fair increase: bytes per window received.";
  derived(section.bytes("nscc_eta", nscc.eta, 0, kWindowMax), kDerived).description =
      "Bytes added in each adjustment period.";
  derived(section.whole("nscc_fi_scale_q16", nscc.fi_scale_q16, 0, kQ16Max), kDerived).description =
      "Fast increase: bytes per byte received, in 1/65536.";
  derived(section.whole("nscc_gamma_q16", nscc.gamma_q16, 0, kQ16Max), kDerived).description =
      "Share of the excess delay that one decrease removes, in 1/65536.";
  derived(section.whole("nscc_max_md_jump_q16", nscc.max_md_jump_q16, 0, kQ16Max), kDerived)
      .description = "Least share of the window that one decrease leaves, in 1/65536.";
  derived(section.bytes("nscc_adjust_bytes", nscc.adjust_bytes, 1, kWindowMax), kDerived)
      .description = "Increases take effect after so many bytes received.";
  optional_time(section, "nscc_adjust_period", nscc.adjust_period, nanoseconds(1), Limits::kTimeMax,
                kDerived)
      .description = "The same as a time.";
  derived(section.add(Field::number(Kind::kFlag, "nscc_quick_adapt", nscc.quick_adapt, 0, 1)),
          kDerived)
      .description = "Whether the window may fall at once to what arrived.";
  derived(section.whole("nscc_qa_gate", nscc.qa_gate, 0, Limits::kQaGateMax), kDerived)
      .description = "Quick adapt below max_window / 2^n.";
  optional_time(section, "nscc_qa_threshold", nscc.qa_threshold, nanoseconds(1),
                core::kNoQaThreshold, kDerived)
      .description = "Delay that calls for quick adapt without a trimmed packet.";
  section.flag("nscc_measure_base_rtt", nscc.measures_base_rtt).description =
      "Whether a shorter round trip becomes the new base RTT.";
}

void add_identity_and_limits(Section& section, TransportProfile& profile) {
  section.hex("pkey", profile.pkey, 0, 0xffff).description = "Partition key.";
  section.whole("udp_port", profile.udp_port, 1, kPortMax).description =
      "UDP destination port of all packets.";
  core::EndpointLimits& limits = profile.limits;
  section.whole("max_queue_pairs", limits.queue_pairs, 1, kLimitMax).description =
      "Queue pairs of an endpoint.";
  section.whole("max_memory_regions", limits.memory_regions, 1, kLimitMax).description =
      "Memory regions of an endpoint.";
  section.whole("max_sends", limits.sends_outstanding, 1, kLimitMax).description =
      "Posted writes of all queue pairs together.";
  section.whole("max_receives", limits.receives_outstanding, 1, kLimitMax).description =
      "Posted receives of all queue pairs together.";
  section.whole("max_early_immediates", limits.early_immediates, 1, kLimitMax).description =
      "Immediates that wait for earlier data.";
  section.whole("max_held_packets", limits.held_packets, 1, kLimitMax).description =
      "Packets that wait for earlier ones of queue pairs that place in order; 8 KiB each.";
  section.whole("max_packets_in_flight", limits.packets_in_flight, 64, kLimitMax).description =
      "Packets in flight of all queue pairs together.";
}

}  // namespace

std::vector<text::Field> transport_fields(TransportProfile& profile) {
  std::vector<Field> fields;
  Section section(fields, kTransportSection);
  add_paths(section, profile);
  add_reliability(section, profile);
  add_congestion(section, profile);
  add_nscc(section, profile.congestion.nscc);
  add_identity_and_limits(section, profile);
  return fields;
}

text::Field preset_field(Preset& preset) {
  Field field = Field::word("preset", preset, kPresets);
  field.section = kTransportSection;
  field.description = "What all other values of this section start from.";
  return field;
}

void read_transport(text::TableReader& section, TransportProfile& profile) {
  Preset chosen{};
  if (section.read(preset_field(chosen))) profile = preset(chosen);
  for (const Field& field : transport_fields(profile)) section.read(field);
}

}  // namespace openmrc::profile
