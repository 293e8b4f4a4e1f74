// SPDX-License-Identifier: BSD-3-Clause
// What NSCC starts from: defaults for a network, and settings within their limits.
#include <algorithm>
#include <limits>

#include "openmrc/core/congestion/nscc.h"

namespace openmrc::core {
namespace {

using Limits = NsccLimits;

// The network for which UET's factors were chosen: 100 Gb/s and 12 us.
constexpr std::int64_t kReferenceBdpBytes = 150'000;

// More than any NIC has; keeps the product with a base RTT in 63 bits.
constexpr std::int64_t kLinkBitsPerSecondMax = 100'000'000'000'000;

static_assert(Limits::kTimeMax.raw() <= std::numeric_limits<std::int32_t>::max() &&
                  Limits::kWindowMax.raw() <= std::numeric_limits<std::int32_t>::max(),
              "settings are kept in 32 bits");

constexpr std::int32_t q16(std::int64_t numerator, std::int64_t denominator) {
  return static_cast<std::int32_t>((numerator * kQ16One + denominator / 2) / denominator);
}

std::int32_t within(std::int64_t value, std::int64_t low, std::int64_t high) {
  return static_cast<std::int32_t>(std::clamp(value, low, high));
}
std::int32_t limited(ByteCount bytes) { return within(bytes.raw(), 0, Limits::kWindowMax.raw()); }
std::int32_t limited(Duration time) { return within(time.raw(), 0, Limits::kTimeMax.raw()); }

std::int32_t limited_mtu(ByteCount mtu) { return within(mtu.raw(), 1, Limits::kMtuMax.raw()); }
std::int32_t limited_base_rtt(Duration rtt) {
  return within(rtt.raw(), Limits::kBaseRttMin.raw(), Limits::kBaseRttMax.raw());
}
std::int32_t limited_max_window(ByteCount window, ByteCount mtu) {
  return within(window.raw(), limited_mtu(mtu), Limits::kWindowMax.raw());
}

// `bytes` times UET's scaling_a, which says how many times the reference network this one is.
std::int64_t scaled(std::int64_t bytes, std::int64_t bdp) {
  return bytes * bdp / kReferenceBdpBytes;
}

std::int64_t bdp_bytes(const NetworkFigures& network) {
  const std::int64_t link =
      std::clamp(network.link_bits_per_second, std::int64_t{0}, kLinkBitsPerSecondMax);
  const std::int64_t bytes_per_ms = link / 8 / 1'000;
  const std::int64_t bdp = bytes_per_ms * limited_base_rtt(network.base_rtt) / 1'000'000;
  return std::min(bdp, Limits::kWindowMax.raw() * 2 / 3);
}

}  // namespace

NsccSettings nscc_defaults(const NetworkFigures& network) {
  const std::int64_t bdp = bdp_bytes(network);
  const std::int64_t mtu = limited_mtu(network.mtu);
  const Duration base_rtt(limited_base_rtt(network.base_rtt));
  const Duration target = network.trimming ? base_rtt * 3 / 4 : base_rtt;
  return {.mtu = ByteCount(mtu),
          .base_rtt = base_rtt,
          .target_delay = target,
          .max_window = ByteCount(std::max(bdp * 3 / 2, mtu)),
          .fi = ByteCount(scaled(5 * mtu, bdp)),
          .eta = ByteCount(scaled(15 * mtu, bdp) / 100),
          .fi_scale_q16 = q16(bdp, 4 * kReferenceBdpBytes),
          .gamma_q16 = q16(8, 10),
          .max_md_jump_q16 = q16(1, 2),
          .adjust_bytes = ByteCount(8 * mtu),
          .adjust_period = base_rtt,
          .quick_adapt = true,
          .qa_gate = 3,
          .qa_threshold = network.trimming ? kNoQaThreshold : target * 4};
}

// UET: alpha = 4 * scaling_a * scaling_b * MTU / target, and scaling_b = target / 12 us: the target
// cancels out. The BDP in scaling_a is taken from the window, as settings name no link speed.
ByteCount nscc_alpha(const NsccSettings& settings) {
  const std::int64_t bdp =
      std::int64_t{limited_max_window(settings.max_window, settings.mtu)} * 2 / 3;
  return ByteCount(scaled(4 * std::int64_t{limited_mtu(settings.mtu)}, bdp));
}

Nscc::Parameters::Parameters(const NsccSettings& settings)
    : mtu(limited_mtu(settings.mtu)),
      base_rtt(limited_base_rtt(settings.base_rtt)),
      // CC-24
      base_rtt_min(settings.measures_base_rtt
                       ? static_cast<std::int32_t>(base_rtt / Limits::kBaseRttFloorDivisor)
                       : base_rtt),
      target_delay(limited(settings.target_delay)),
      max_window(limited_max_window(settings.max_window, settings.mtu)),
      alpha(limited(nscc_alpha(settings))),
      fi(limited(settings.fi)),
      eta(limited(settings.eta)),
      fi_scale_q16(std::max(settings.fi_scale_q16, 0)),
      gamma_q16(within(settings.gamma_q16, 0, kQ16One)),
      max_md_jump_q16(within(settings.max_md_jump_q16, 0, kQ16One)),
      adjust_bytes(limited(settings.adjust_bytes)),
      adjust_period(limited(settings.adjust_period)),
      qa_threshold(limited(settings.qa_threshold)),
      qa_gate(static_cast<std::uint8_t>(std::min(settings.qa_gate, Limits::kQaGateMax))),
      quick_adapt(settings.quick_adapt),
      learns_base_rtt(settings.learns_base_rtt) {}

void Nscc::Parameters::scale_to(std::int32_t other_base_rtt) {
  const auto scaled_to = [&](std::int32_t value, std::int64_t limit) {
    return within(std::int64_t{value} * other_base_rtt / base_rtt, 0, limit);
  };
  for (std::int32_t* time : {&target_delay, &adjust_period, &qa_threshold}) {
    *time = scaled_to(*time, Limits::kTimeMax.raw());
  }
  for (std::int32_t* bytes : {&max_window, &alpha, &fi, &eta}) {
    *bytes = scaled_to(*bytes, Limits::kWindowMax.raw());
  }
  max_window = std::max(max_window, mtu);
  fi_scale_q16 = scaled_to(fi_scale_q16, std::numeric_limits<std::int32_t>::max());
  base_rtt = other_base_rtt;
}

}  // namespace openmrc::core
