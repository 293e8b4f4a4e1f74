// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/profile/transport_profile.h"

#include <algorithm>

#include "openmrc/core/peer/peer.h"

namespace openmrc::profile {
namespace {

// What the system calls for a packet cost is worth about so many bytes of a large one.
constexpr ByteCount kSoftwarePacketWeight(1024);

TransportProfile nic() {
  TransportProfile profile;
  profile.paths = {.evs = 256, .distinct = false};
  profile.retry = {.timeout = 6, .linear = 7, .exponential = 14};
  profile.max_wimm = 16;
  return profile;
}

TransportProfile software() {
  TransportProfile profile;
  profile.paths = {.evs = 64, .distinct = true};
  profile.burst = 8;
  profile.reorder_floor = milliseconds(1);
  profile.packet_weight_min = kSoftwarePacketWeight;
  profile.retry = {.timeout = 13, .linear = 7, .exponential = 8};
  profile.max_wimm = 1024;
  // The least round trip that a host sees when it is idle says nothing about a busy one.
  profile.congestion.nscc.measures_base_rtt = false;
  return profile;
}

NetworkFigures figures_of(const CongestionOptions& options, const NetworkFigures& network) {
  return {.base_rtt = options.base_rtt ? options.base_rtt : network.base_rtt,
          .bits_per_second = options.bits_per_second.value_or(network.bits_per_second),
          .trimming = options.trimming.value_or(network.trimming)};
}

core::FixedWindowSettings fixed_settings(const TransportProfile& profile,
                                         const NetworkFigures& network) {
  const NetworkFigures figures = figures_of(profile.congestion, network);
  const Duration base_rtt = figures.base_rtt.value_or(kGuessedBaseRtt);
  const ByteCount product(figures.bits_per_second / 8 * base_rtt.raw() / 1'000'000'000);
  const ByteCount least = core::nominal_size(profile.mtu, true);
  return {.window = std::max(profile.congestion.window.value_or(product), least),
          .base_rtt = base_rtt};
}

// Values that are given are meant as they are, and do not grow with a base RTT that is learned.
bool follow_from_base_rtt(const NsccOptions& options) {
  return options == NsccOptions{.measures_base_rtt = options.measures_base_rtt};
}

}  // namespace

TransportProfile preset(Preset preset) { return preset == Preset::kNic ? nic() : software(); }

std::string_view name_of(Preset preset) { return preset == Preset::kNic ? "nic" : "software"; }

core::EndpointSettings endpoint_settings(const TransportProfile& profile) {
  core::EndpointSettings settings;
  settings.pkey = profile.pkey;
  settings.udp_port = profile.udp_port;
  settings.sack = profile.sack;
  // What leaves together arrives together: one report for all of it will do.
  if (profile.burst > 1) {
    settings.sack.threshold_bytes =
        std::max(profile.sack.threshold_bytes, profile.burst * profile.mtu);
  }
  settings.probe = profile.probe;
  settings.ev_burst = profile.burst;
  settings.path_policy = profile.path_policy;
  settings.reorder_floor = profile.reorder_floor;
  settings.packet_weight_min = profile.packet_weight_min;
  settings.limits = profile.limits;
  return settings;
}

core::NsccSettings nscc_settings(const TransportProfile& profile, const NetworkFigures& network) {
  const NetworkFigures figures = figures_of(profile.congestion, network);
  core::NsccSettings nscc =
      core::nscc_defaults({.mtu = core::nominal_size(profile.mtu, true),
                           .base_rtt = figures.base_rtt.value_or(kGuessedBaseRtt),
                           .link_bits_per_second = figures.bits_per_second,
                           .trimming = figures.trimming});
  const NsccOptions& given = profile.congestion.nscc;
  nscc.target_delay = given.target_delay.value_or(nscc.target_delay);
  nscc.max_window = given.max_window.value_or(nscc.max_window);
  nscc.fi = given.fi.value_or(nscc.fi);
  nscc.eta = given.eta.value_or(nscc.eta);
  nscc.fi_scale_q16 = given.fi_scale_q16.value_or(nscc.fi_scale_q16);
  nscc.gamma_q16 = given.gamma_q16.value_or(nscc.gamma_q16);
  nscc.max_md_jump_q16 = given.max_md_jump_q16.value_or(nscc.max_md_jump_q16);
  nscc.adjust_bytes = given.adjust_bytes.value_or(nscc.adjust_bytes);
  nscc.adjust_period = given.adjust_period.value_or(nscc.adjust_period);
  nscc.quick_adapt = given.quick_adapt.value_or(nscc.quick_adapt);
  nscc.qa_gate = given.qa_gate.value_or(nscc.qa_gate);
  nscc.qa_threshold = given.qa_threshold.value_or(nscc.qa_threshold);
  nscc.measures_base_rtt = given.measures_base_rtt;
  nscc.learns_base_rtt = !figures.base_rtt && follow_from_base_rtt(given);
  return nscc;
}

core::CongestionSettings congestion_settings(const TransportProfile& profile,
                                             const NetworkFigures& network) {
  switch (profile.congestion.algorithm) {
    case CongestionAlgorithm::kFixed: return fixed_settings(profile, network);
    case CongestionAlgorithm::kNscc: break;
  }
  return nscc_settings(profile, network);
}

core::ReadyToRecvAttributes recv_attributes(const TransportProfile& profile) {
  return {.mtu = profile.mtu,
          .mpr_dest = profile.mpr,
          .max_wimm_dest = profile.max_wimm,
          .dynamic_mpr = profile.dynamic_mpr};
}

core::ReadyToSendAttributes send_attributes(const TransportProfile& profile) {
  return {.mpr = profile.mpr,
          .max_wimm = profile.max_wimm,
          .timeout = profile.retry.timeout,
          .linear_retries = profile.retry.linear,
          .exponential_retries = profile.retry.exponential};
}

}  // namespace openmrc::profile
