// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/congestion/nscc.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "openmrc/core/congestion/congestion_signals.h"

namespace openmrc::core {
namespace {

using Limits = NsccLimits;

// The network for which UET's factors were chosen: 100 Gb/s and 12 us.
constexpr std::int64_t kReferenceRttNs = 12'000;
constexpr std::int64_t kReferenceBdpBytes = 150'000;

// A packet with less delay met no queue (UEC's simulator; UET only says "about 0").
constexpr std::int64_t kNoDelayNs = 1'000;

// A sample's weight in the average delay is one part in this many (UEC's simulator: 0.0125). UET
// asks for the average of about the last RTT and leaves the method open.
constexpr std::int64_t kAverageParts = 80;

// Of a packet whose delay says nothing of the queue as it is now: see take_rtt.
constexpr std::int64_t kDrainedDelayDivisor = 4;

// The least that quick adapt leaves after the first epoch, in packets: hardly anything has arrived
// by then, and UET's one packet would grow late when others are done: 127 to 1 has 618 Gb/s instead
// of 636. After later epochs it is one: three for each of 127 senders to 100 Gb/s would be trimmed
// for ever.
constexpr std::int64_t kAdaptedPackets = 3;

constexpr std::uint8_t kReceiverPenaltyMax = 127;
constexpr int kReceiverPenaltyBits = 7;

// No counter of received bytes is compared with more than a window or a threshold.
constexpr std::int64_t kCounterMax = 2 * Limits::kWindowMax.raw();

// More than any NIC has; keeps the product with a base RTT in 63 bits.
constexpr std::int64_t kLinkBitsPerSecondMax = 100'000'000'000'000;

static_assert(Limits::kBaseRttMax.raw() * Limits::kRttMaxInBaseRtts < Limits::kTimeMax.raw(),
              "no delay exceeds a threshold of quick adapt that stands for none");
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
      measures_base_rtt(settings.measures_base_rtt) {}

Nscc::Nscc(const NsccSettings& settings)
    : parameters_(settings),
      base_rtt_(parameters_.base_rtt),
      least_rtt_(parameters_.base_rtt),
      max_window_(parameters_.max_window),
      window_(parameters_.max_window) {}

// UET 3.6.13.5, OnACK.
void Nscc::on_sack(const SackSignal& sack) {
  begin(sack.now);
  const std::int64_t received = plausible(sack.newly_received);
  count_ignored(received);
  count_received(received);
  const bool penalised = apply_receiver_penalty(sack, received);
  // A round trip that took no time was not measured. Without a sample UET stops here; the UEC's
  // simulator goes on with the average delay.
  if (sack.rtt && sack.rtt->raw() > 0) {
    const std::int64_t delay = take_rtt(*sack.rtt, sack.congested);
    const bool adapted = quick_adapt({.now = sack.now,
                                      .in_flight = plausible(sack.in_flight),
                                      .delay = delay,
                                      .marked = sack.congested,
                                      .lost = false});
    if (!adapted) adjust(sack, received, delay, penalised);
  }
  clamp_window();
}

// UET 3.6.13.5, OnNACK.
void Nscc::on_trim(const TrimSignal& trim) {
  begin(trim.now);
  const std::int64_t size = plausible(trim.size);
  count_ignored(size);
  // What delay it would have had cannot be known, but the queue was full.
  update_average_delay(parameters_.base_rtt);
  qa_wanted_ = true;
  if (trim.last_hop) end_first_epoch(trim.now);
  const bool adapted = quick_adapt({.now = trim.now,
                                    .in_flight = plausible(trim.in_flight),
                                    .delay = 0,
                                    .marked = true,
                                    .lost = true});
  if (!adapted) window_ -= size;
  clamp_window();
}

// UET 3.6.13.5, OnInferredLoss.
void Nscc::on_loss(const LossSignal& loss) {
  begin(loss.now);
  const std::int64_t size = plausible(loss.size);
  count_ignored(size);
  window_ -= size;
  clamp_window();
}

// As Linux TCP undoes what it did for a loss that was none.
void Nscc::on_spurious_loss(ByteCount size) {
  window_ += plausible(size);
  clamp_window();
}

void Nscc::on_base_rtt(Duration rtt) {
  if (rtt.raw() > 0) update_base_rtt(rtt.raw());
  clamp_window();
}

// UET counts time from when the first packet is sent, which is not known here: a bit more than a
// round trip before the first answer.
void Nscc::begin(Instant now) {
  if (begun_) return;
  begun_ = true;
  last_adjust_ = last_decrease_ = now - Duration(base_rtt_) - nanoseconds(1);
}

// There was never more in flight than the largest window, and a negative amount is none.
std::int64_t Nscc::plausible(ByteCount bytes) const {
  return std::clamp(bytes.raw(), std::int64_t{0}, std::int64_t{parameters_.max_window});
}

void Nscc::count_received(std::int64_t bytes) {
  received_since_adjust_ = std::min(received_since_adjust_ + bytes, kCounterMax);
  received_in_epoch_ = std::min(received_in_epoch_ + bytes, kCounterMax);
}

void Nscc::count_ignored(std::int64_t bytes) {
  left_to_ignore_ = std::max(left_to_ignore_ - bytes, std::int64_t{0});
}

// UET 3.6.13.2. Returns whether there is a penalty: then nothing shall grow, which here includes
// `eta` and what the window was owed before. The UEC's simulator has another scale.
//
// UET compares the window with what is in flight after the SACK. That is always less by what the
// SACK reports, so within one RTT any penalty would lead down to one packet, and 64 would not
// halve the window as it should. What was in flight when the SACK came gives that.
bool Nscc::apply_receiver_penalty(const SackSignal& sack, std::int64_t received) {
  if (sack.receiver_penalty == 0) {
    if (sack.restore_window && window_before_penalty_ > 0) {
      window_ = std::exchange(window_before_penalty_, 0);
    }
    return false;
  }
  if (window_before_penalty_ == 0) window_before_penalty_ = window_;
  const std::int64_t penalty = std::min(sack.receiver_penalty, kReceiverPenaltyMax);
  const std::int64_t used = std::min(window_, plausible(sack.in_flight) + received);
  window_ = used - (penalty * received >> kReceiverPenaltyBits);
  drop_increase();
  return true;
}

// Returns the delay. When it is long but the packet not marked, the queue that it met has drained
// by the time that the packet left it; in the average, which leads to decreases, it counts as a
// short one (UEC's simulator; UET leaves it open).
std::int64_t Nscc::take_rtt(Duration rtt, bool marked) {
  const std::int64_t sample = std::min(rtt.raw(), parameters_.base_rtt * Limits::kRttMaxInBaseRtts);
  update_base_rtt(sample);
  const std::int64_t delay = std::max(sample - base_rtt_, std::int64_t{0});
  const bool drained = !marked && delay > parameters_.target_delay;
  update_average_delay(drained ? base_rtt_ / kDrainedDelayDivisor : delay);
  return delay;
}

void Nscc::update_base_rtt(std::int64_t rtt) {
  if (rtt >= least_rtt_) return;
  const std::int64_t floor = parameters_.base_rtt / Limits::kBaseRttFloorDivisor;
  least_rtt_ = static_cast<std::int32_t>(std::max(rtt, floor));
  if (!parameters_.measures_base_rtt) return;
  base_rtt_ = least_rtt_;
  const std::int64_t scaled_window =
      std::int64_t{parameters_.max_window} * base_rtt_ / parameters_.base_rtt;
  max_window_ = std::max(static_cast<std::int32_t>(scaled_window), parameters_.mtu);
}

void Nscc::update_average_delay(std::int64_t delay) {
  average_delay_q16_ += (delay * kQ16One - average_delay_q16_) / kAverageParts;
}

// The four cases, then what they add up to. That the period ends when it is full, not only when it
// is exceeded, is UET's word; likewise in quick_adapt.
void Nscc::adjust(const SackSignal& sack, std::int64_t received, std::int64_t delay,
                  bool penalised) {
  const bool late = delay >= parameters_.target_delay;
  if (sack.congested) {
    if (late) multiplicative_decrease(sack.now);
  } else if (!penalised) {
    if (late) {
      fair_increase(received);
    } else {
      proportional_increase(received, delay);
    }
  }
  if (!penalised) fulfill(sack.now);
}

// UET's first epoch begins with the first feedback and lasts a round trip and a target delay; till
// then every sender of an incast keeps its largest window, and whole waves are trimmed again. That
// others send to the same receiver is known from the first packet that is trimmed there. Trims on
// the way do not say that: another path may be free.
void Nscc::end_first_epoch(Instant now) {
  if (first_epoch_over_) return;
  in_epoch_ = true;
  epoch_end_ = now;
}

// UET 3.6.13.6. Returns whether the signal has been dealt with.
bool Nscc::quick_adapt(const QuickLook& look) {
  if (!parameters_.quick_adapt) return false;
  // What was in flight before the window was cut can only report the queue that it was cut for.
  const bool ignored = look.marked && left_to_ignore_ > 0;
  const bool epoch_over = !in_epoch_ || look.now >= epoch_end_;
  const bool done = ignored || (epoch_over && end_epoch(look));
  if (done) drop_increase();
  return done;
}

// Takes what arrived in an epoch for the window if that is a small part of it; there must have been
// an epoch. Returns whether it did.
bool Nscc::end_epoch(const QuickLook& look) {
  const bool called_for = qa_wanted_ || look.lost || look.delay > parameters_.qa_threshold;
  const std::int64_t few = max_window_ >> parameters_.qa_gate;
  const bool adapts = in_epoch_ && called_for && received_in_epoch_ < few;
  if (adapts) {
    const std::int64_t packets = first_epoch_over_ ? 1 : kAdaptedPackets;
    window_ = std::max(received_in_epoch_, packets * parameters_.mtu);
    left_to_ignore_ = look.in_flight;
    qa_wanted_ = false;
  }
  received_in_epoch_ = 0;
  first_epoch_over_ = in_epoch_;
  in_epoch_ = true;
  epoch_end_ = look.now + Duration(base_rtt_) + Duration(parameters_.target_delay);
  return adapts;
}

void Nscc::fair_increase(std::int64_t received) { add_increase(parameters_.fi, received); }

void Nscc::proportional_increase(std::int64_t received, std::int64_t delay) {
  if (fast_increase(received, delay)) return;
  const std::int64_t gain =
      parameters_.alpha * (parameters_.target_delay - delay) / kReferenceRttNs;
  add_increase(std::min(gain, Limits::kWindowMax.raw()), received);
}

// Once a whole window has met no queue it grows with every byte received, until a queue appears.
// Returns whether it is in that mode.
bool Nscc::fast_increase(std::int64_t received, std::int64_t delay) {
  if (delay >= kNoDelayNs) {
    received_without_delay_ = 0;
    fast_ = false;
    return false;
  }
  received_without_delay_ = std::min(received_without_delay_ + received, kCounterMax);
  fast_ = fast_ || received_without_delay_ > window_;
  if (fast_) window_ += received * parameters_.fi_scale_q16 / kQ16One;
  return fast_;
}

void Nscc::multiplicative_decrease(Instant now) {
  fast_ = false;
  received_without_delay_ = 0;
  const std::int64_t average = average_delay();
  const std::int64_t excess = average - parameters_.target_delay;
  if (excess <= 0 || now - last_decrease_ <= Duration(base_rtt_)) return;
  const std::int64_t kept_q16 = kQ16One - parameters_.gamma_q16 * excess / average;
  window_ = window_ * std::max(kept_q16, std::int64_t{parameters_.max_md_jump_q16}) / kQ16One;
  last_decrease_ = now;
}

// More than the limit, divided by a window, is more than the largest window: leaving it out
// changes nothing, and the sum cannot overflow (as 32 bits do in the UEC's simulator).
void Nscc::add_increase(std::int64_t gain, std::int64_t received) {
  const std::int64_t limit = std::int64_t{parameters_.max_window} * parameters_.max_window;
  increase_ = std::min(increase_ + gain * received, limit);
}

void Nscc::drop_increase() {
  increase_ = 0;
  received_since_adjust_ = 0;
}

// Not with every SACK, so that the division does not round small increases away.
void Nscc::fulfill(Instant now) {
  const bool period_over = now - last_adjust_ >= Duration(parameters_.adjust_period);
  if (!period_over && received_since_adjust_ <= parameters_.adjust_bytes) return;
  clamp_window();
  window_ += increase_ / window_;
  if (period_over) {
    window_ += parameters_.eta;
    last_adjust_ = now;
  }
  drop_increase();
}

void Nscc::clamp_window() {
  window_ = std::clamp(window_, std::int64_t{parameters_.mtu}, std::int64_t{max_window_});
}

}  // namespace openmrc::core
