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

// A packet with less delay met no queue (UEC's simulator; UET only says "about 0").
constexpr std::int64_t kNoDelayNs = 1'000;

// The average delay is that of so many windows; a window takes a round trip. UET asks for the
// average of about the last RTT and leaves the method open; UEC's simulator has a constant weight
// for each sample, which is a few round trips for a large window and hundreds for a small one.
// CC-27
constexpr std::int64_t kAverageWindows = 2;

// Of a packet whose delay says nothing of the queue as it is now: see take_rtt.
constexpr std::int64_t kDrainedDelayDivisor = 4;

// The least that quick adapt leaves is one part in so many of the largest window, and a packet.
// With UET's one packet a sender takes long to grow when the others are done: 127 to 1 at 800 Gb/s
// has 625 Gb/s instead of 648. Three packets at any speed would be trimmed for ever where 127 hosts
// send to a link of 100 Gb/s (CC-36).
constexpr std::int64_t kAdaptedParts = 64;

// Of the longest path: up to a T1 and down again.
constexpr std::int64_t kLinksOfAPath = 4;

// While the base RTT is learned: no round trip has been measured yet.
constexpr std::uint8_t kReceiverPenaltyMax = 127;
constexpr int kReceiverPenaltyBits = 7;

// No counter of received bytes is compared with more than a window or a threshold.
constexpr std::int64_t kCounterMax = 2 * Limits::kWindowMax.raw();

static_assert(Limits::kBaseRttMax.raw() * Limits::kRttMaxInBaseRtts < Limits::kTimeMax.raw(),
              "no delay exceeds a threshold of quick adapt that stands for none");

}  // namespace

Nscc::Nscc(const NsccSettings& settings)
    : parameters_(settings),
      knows_base_rtt_(!parameters_.learns_base_rtt),
      base_rtt_(parameters_.base_rtt),
      least_rtt_(parameters_.learns_base_rtt ? kNotMeasured : parameters_.base_rtt),
      max_window_(parameters_.max_window),
      window_(parameters_.max_window) {}

// The hint of mrc.h. All that is sent to one link above this is trimmed (CC-21).
void Nscc::expect_senders(std::uint32_t senders) {
  if (phase_ != Phase::kNew || senders <= 1) return;
  window_ = std::max(max_window_ / std::int64_t{senders}, adapted_min());
}

void Nscc::on_sack(const SackSignal& sack) {
  if (phase_ != Phase::kSteady) [[unlikely]]
    return on_early_sack(sack);
  take_sack(sack);
}

// Before the base RTT is known no round trip tells of a queue, but the shortest one is the base RTT
// or close to it: the first packets meet none (CC-52).
void Nscc::on_early_sack(SackSignal sack) {
  begin(sack.now);
  if (phase_ == Phase::kLearning && sack.rtt && sack.rtt->raw() > 0) {
    update_base_rtt(plausible(*sack.rtt));
    sack.rtt.reset();
  }
  take_sack(sack);
}

// UET 3.6.13.5, OnACK.
[[gnu::always_inline]] inline void Nscc::take_sack(const SackSignal& sack) {
  const std::int64_t received = plausible(sack.newly_received);
  count_ignored(received);
  count_received(received);
  const bool penalised = apply_receiver_penalty(sack, received);
  // A round trip that took no time was not measured. Without a sample UET stops here; the UEC's
  // simulator goes on with the average delay (CC-22).
  if (sack.rtt && sack.rtt->raw() > 0) {
    const std::int64_t delay = take_rtt(*sack.rtt, sack.congested, received);
    const bool adapted = quick_adapt({.now = sack.now,
                                      .in_flight = plausible(sack.in_flight),
                                      .delay = delay,
                                      .marked = sack.congested,
                                      .lost = false});
    if (!adapted) adjust(sack, received, delay, penalised);
  }
  clamp_window();
}

// UET 3.6.13.5, OnNACK (CC-44).
void Nscc::on_trim(const TrimSignal& trim) {
  begin(trim.now);
  const std::int64_t size = plausible(trim.size);
  count_ignored(size);
  // What delay it would have had cannot be known, but the queue was full.
  update_average_delay(parameters_.base_rtt, size);
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

// UET 3.6.13.5, OnInferredLoss (CC-45).
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

// The base RTT is that of a packet of full size, which takes longer on each link than a control
// packet. What all planes carry in a base RTT is two thirds of the largest window (CC-55).
void Nscc::on_base_rtt(Duration rtt, std::size_t planes) {
  if (rtt.raw() > 0) {
    const std::int64_t on_a_link = std::int64_t{parameters_.mtu} * 3 / 2 *
                                   static_cast<std::int64_t>(planes) * parameters_.base_rtt /
                                   parameters_.max_window;
    const std::int64_t longer = parameters_.learns_base_rtt ? kLinksOfAPath * on_a_link : 0;
    update_base_rtt(plausible(rtt + Duration(longer)));
  }
  clamp_window();
}

// What was sent so far was sent for the guess, so the window grows with it (CC-53).
void Nscc::end_learning() {
  if (knows_base_rtt_ || (phase_ == Phase::kNew && least_rtt_ == kNotMeasured)) return;
  knows_base_rtt_ = true;
  if (phase_ == Phase::kLearning) phase_ = Phase::kSteady;
  if (least_rtt_ == kNotMeasured) {
    least_rtt_ = base_rtt_;
    return;
  }
  const std::int64_t guess = base_rtt_;
  const auto longest = static_cast<std::int32_t>(Limits::kBaseRttMax.raw());
  learn(std::clamp(least_rtt_, parameters_.base_rtt_min, longest));
  window_ = window_ * base_rtt_ / guess;
  clamp_window();
}

// CC-53
void Nscc::learn(std::int32_t base_rtt) {
  if (!knows_base_rtt_) return;
  parameters_.scale_to(base_rtt);
  base_rtt_ = base_rtt;
  max_window_ = parameters_.max_window;
}

// UET counts time from when the first packet is sent, which is not known here: a bit more than a
// round trip before the first answer.
void Nscc::begin(Instant now) {
  if (phase_ != Phase::kNew) return;
  phase_ = knows_base_rtt_ ? Phase::kSteady : Phase::kLearning;
  last_adjust_ = last_decrease_ = now - Duration(base_rtt_) - nanoseconds(1);
}

// There was never more in flight than the largest window, and a negative amount is none (CC-12).
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
// CC-40, CC-41, CC-42
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
// short one (UEC's simulator; UET leaves it open) (CC-28).
std::int64_t Nscc::take_rtt(Duration rtt, bool marked, std::int64_t received) {
  const std::int64_t sample = plausible(rtt);
  update_base_rtt(sample);
  const std::int64_t delay = std::max(sample - base_rtt_, std::int64_t{0});
  const bool drained = !marked && delay > parameters_.target_delay;
  update_average_delay(drained ? base_rtt_ / kDrainedDelayDivisor : delay, received);
  return delay;
}

std::int64_t Nscc::plausible(Duration rtt) const {
  return std::min(rtt.raw(), parameters_.base_rtt * Limits::kRttMaxInBaseRtts);
}

// CC-23
void Nscc::shorten_base_rtt(std::int32_t rtt) {
  least_rtt_ = rtt;
  const std::int32_t shorter = std::max(least_rtt_, parameters_.base_rtt_min);
  if (shorter >= base_rtt_) return;
  if (parameters_.learns_base_rtt) return learn(shorter);
  base_rtt_ = shorter;
  const std::int64_t scaled_window =
      std::int64_t{parameters_.max_window} * base_rtt_ / parameters_.base_rtt;
  max_window_ = std::max(static_cast<std::int32_t>(scaled_window), parameters_.mtu);
}

void Nscc::update_average_delay(std::int64_t delay, std::int64_t bytes) {
  const std::int64_t weight = std::max(bytes, std::int64_t{parameters_.mtu});  // of one packet
  const std::int64_t parts = kAverageWindows * window_ / weight;
  average_delay_q16_ += (delay * kQ16One - average_delay_q16_) / std::max(parts, std::int64_t{1});
}

// The four cases, then what they add up to. That the period ends when it is full, not only when it
// is exceeded, is UET's word; likewise in quick_adapt (CC-16).
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
// the way do not say that: another path may be free (CC-37).
void Nscc::end_first_epoch(Instant now) {
  if (first_epoch_over_) return;
  in_epoch_ = true;
  epoch_end_ = now;
}

// UET 3.6.13.6. Returns whether the signal has been dealt with.
bool Nscc::quick_adapt(const QuickLook& look) {
  if (!parameters_.quick_adapt) return false;
  // What was in flight before the window was cut can only report the queue that it was cut for.
  // CC-35
  const bool ignored = look.marked && left_to_ignore_ > 0;
  const bool epoch_over = !in_epoch_ || look.now >= epoch_end_;
  const bool done = ignored || (epoch_over && end_epoch(look));
  if (done) drop_increase();
  return done;
}

// Takes what arrived in an epoch for the window if that is a small part of it; there must have been
// an epoch. Returns whether it did (CC-34).
bool Nscc::end_epoch(const QuickLook& look) {
  const bool called_for = qa_wanted_ || look.lost || look.delay > parameters_.qa_threshold;
  const std::int64_t few = max_window_ >> parameters_.qa_gate;
  const bool adapts = in_epoch_ && called_for && received_in_epoch_ < few;
  if (adapts) {
    window_ = std::max(received_in_epoch_, adapted_min());
    left_to_ignore_ = look.in_flight;
    qa_wanted_ = false;
  }
  received_in_epoch_ = 0;
  first_epoch_over_ = in_epoch_;
  in_epoch_ = true;
  epoch_end_ = look.now + Duration(base_rtt_) + Duration(parameters_.target_delay);
  return adapts;
}

// CC-15
void Nscc::fair_increase(std::int64_t received) { add_increase(parameters_.fi, received); }

// CC-14
void Nscc::proportional_increase(std::int64_t received, std::int64_t delay) {
  if (fast_increase(received, delay)) return;
  const std::int64_t gain =
      parameters_.alpha * (parameters_.target_delay - delay) / kReferenceRttNs;
  add_increase(std::min(gain, Limits::kWindowMax.raw()), received);
}

// Once a whole window has met no queue it grows with every byte received, until a queue appears.
// Returns whether it is in that mode (CC-32).
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

// CC-17, CC-33
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
// changes nothing, and the sum cannot overflow (as 32 bits do in the UEC's simulator) (CC-30).
void Nscc::add_increase(std::int64_t gain, std::int64_t received) {
  const std::int64_t limit = std::int64_t{parameters_.max_window} * parameters_.max_window;
  increase_ = std::min(increase_ + gain * received, limit);
}

void Nscc::drop_increase() {
  increase_ = 0;
  received_since_adjust_ = 0;
}

// Not with every SACK, so that the division does not round small increases away (CC-31).
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

std::int64_t Nscc::adapted_min() const {
  return std::max(std::int64_t{parameters_.mtu}, max_window_ / kAdaptedParts);
}

// CC-19
void Nscc::clamp_window() {
  window_ = std::clamp(window_, std::int64_t{parameters_.mtu}, std::int64_t{max_window_});
}

}  // namespace openmrc::core
