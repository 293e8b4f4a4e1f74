// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "openmrc/base/quantity.h"
#include "openmrc/base/time.h"
#include "openmrc/core/congestion/congestion_signals.h"

namespace openmrc::core {

class Nscc;

// What the settings of NSCC may be. The constructor brings a setting outside its range to the
// nearest end, so that no product below leaves 63 bits (CC-20).
struct NsccLimits {
  static constexpr ByteCount kMtuMax{std::int64_t{1} << 16};
  // 1.5 times what 57 Tb/s carry in 100 us. The limit of all other amounts of bytes, too.
  static constexpr ByteCount kWindowMax{std::int64_t{1} << 30};
  static constexpr Duration kBaseRttMin = nanoseconds(128);  // one tick of a timestamp
  static constexpr Duration kBaseRttMax = milliseconds(25);
  static constexpr Duration kTimeMax = seconds(2);  // of all other times
  static constexpr unsigned kQaGateMax = 30;
  // A measured base RTT below this part of the configured one is a forged or wrapped timestamp. It
  // would take the window away with it, and for good (CC-24).
  static constexpr std::int64_t kBaseRttFloorDivisor = 4;
  // A longer round trip, in configured base RTTs, is counted as this long. No response is stronger
  // for a longer one, but the average would take longer to forget a wrong one.
  static constexpr std::int64_t kRttMaxInBaseRtts = 64;
};

// One part in `kQ16One`: how ratios are written here, for want of fractions.
inline constexpr std::int32_t kQ16One = 1 << 16;

// The parameters of UET 3.6.13.3 under the names of MRC's control interface. Start from
// nscc_defaults().
struct NsccSettings {
  using Algorithm = Nscc;

  ByteCount mtu;                 // nominal size of the largest packet, and the least window
  Duration base_rtt;             // of a packet of that size over the longest path, queues empty
  Duration target_delay;         // what queues may add to the RTT
  ByteCount max_window;          // and the first window. Shrinks with the measured base RTT
  ByteCount fi;                  // fair increase: bytes per window received
  ByteCount eta;                 // bytes per `adjust_period`, whatever the network says
  std::int32_t fi_scale_q16;     // fast increase: bytes per byte received
  std::int32_t gamma_q16;        // how much of the excess delay one decrease takes away
  std::int32_t max_md_jump_q16;  // the least part of the window that one decrease leaves
  ByteCount adjust_bytes;        // increases take effect after so many bytes received,
  Duration adjust_period;        // or after so long
  bool quick_adapt;
  unsigned qa_gate;       // quick adapt when less than max_window / 2^qa_gate came through
  Duration qa_threshold;  // delay that calls for quick adapt even if nothing was trimmed
  // Whether a round trip that is shorter than `base_rtt` becomes the new one. Not in software,
  // whose usual round trip is much longer than its luckiest.
  bool measures_base_rtt = true;
  // Nobody knows the base RTT. `base_rtt` is then a guess, and the least that it is taken to be;
  // all that follows from it grows with the one that is found (CC-53).
  bool learns_base_rtt = false;

  bool operator==(const NsccSettings&) const = default;
};

// `qa_threshold` in a network that trims: the most that the control interface can say.
inline constexpr Duration kNoQaThreshold = nanoseconds(0xffff'ffff);

struct NetworkFigures {
  ByteCount mtu;
  Duration base_rtt;
  std::int64_t link_bits_per_second;  // all planes of the NIC together
  bool trimming;
};

// The defaults of UET 3.6.13.3 (Table 3-82) for such a network (CC-18).
[[nodiscard]] NsccSettings nscc_defaults(const NetworkFigures& network);

// The one parameter of UET that cannot be set, alpha, as the bytes by which a window grows that is
// received without any delay, if the target delay is the 12 us of the reference network.
[[nodiscard]] ByteCount nscc_alpha(const NsccSettings& settings);

// Network signal based congestion control (MRC 8, UET 3.6.13). Two signals, four cases: a mark
// reports the queue that a packet left behind, the delay of the queue that it met.
//
//                  delay below the target            delay above it
//   not marked     grow, the faster the emptier      the queue drains: grow by the same for all
//   marked         leave it to load balancing        shrink by what the queue is too long
//
// When hardly anything arrives, the window becomes what did arrive (quick adapt).
//
// All arithmetic is on integers, so that a run is the same on every machine. Where the published
// algorithm and the UEC's simulator differ this follows the former; nscc.cc says where.
class Nscc {
 public:
  explicit Nscc(const NsccSettings& settings);

  void expect_senders(std::uint32_t senders);
  void on_sack(const SackSignal& sack);
  void on_trim(const TrimSignal& trim);
  void on_loss(const LossSignal& loss);
  void on_spurious_loss(ByteCount size);
  void on_base_rtt(Duration rtt, std::size_t planes = 1);
  void end_learning();

  // Whether the base RTT is still a guess.
  [[nodiscard]] bool is_learning() const { return !knows_base_rtt_; }
  [[nodiscard]] ByteCount window() const { return ByteCount(window_); }
  [[nodiscard]] ByteCount max_window() const { return ByteCount(max_window_); }
  [[nodiscard]] Duration base_rtt() const { return Duration(base_rtt_); }
  [[nodiscard]] Duration least_rtt() const {
    return Duration(std::min(least_rtt_, parameters_.base_rtt));
  }
  // While the base RTT is a guess, no shorter than what has been measured (CC-52).
  [[nodiscard]] Duration rtt() const {
    const bool is_measured = phase_ == Phase::kLearning && least_rtt_ != kNotMeasured;
    return Duration(is_measured ? std::max(base_rtt_, least_rtt_) : base_rtt_ + average_delay());
  }

 private:
  static constexpr std::int32_t kNotMeasured = std::numeric_limits<std::int32_t>::max();

  // The settings within their limits, in half the space. Bytes and nanoseconds.
  struct Parameters {
    explicit Parameters(const NsccSettings& settings);
    // As nscc_defaults would have them for another base RTT.
    void scale_to(std::int32_t other_base_rtt);

    std::int32_t mtu;
    std::int32_t base_rtt;
    std::int32_t base_rtt_min;  // what a shorter round trip may make of it
    std::int32_t target_delay;
    std::int32_t max_window;
    std::int32_t alpha;
    std::int32_t fi;
    std::int32_t eta;
    std::int32_t fi_scale_q16;
    std::int32_t gamma_q16;
    std::int32_t max_md_jump_q16;
    std::int32_t adjust_bytes;
    std::int32_t adjust_period;
    std::int32_t qa_threshold;
    std::uint8_t qa_gate;
    bool quick_adapt;
    bool learns_base_rtt;
  };

  enum class Phase : std::uint8_t {
    kNew,       // no signal has come
    kLearning,  // the base RTT is a guess: there are signals, but what is a delay is not known
    kSteady,
  };

  // What quick adapt wants to know of a signal.
  struct QuickLook {
    Instant now;
    std::int64_t in_flight;
    std::int64_t delay;
    bool marked;
    bool lost;
  };

  void begin(Instant now);
  void on_early_sack(SackSignal sack);
  void take_sack(const SackSignal& sack);
  [[nodiscard]] std::int64_t plausible(ByteCount bytes) const;
  void count_received(std::int64_t bytes);
  void count_ignored(std::int64_t bytes);

  bool apply_receiver_penalty(const SackSignal& sack, std::int64_t received);
  std::int64_t take_rtt(Duration rtt, bool marked, std::int64_t received);
  void adjust(const SackSignal& sack, std::int64_t received, std::int64_t delay, bool penalised);

  [[nodiscard]] std::int64_t plausible(Duration rtt) const;
  void update_base_rtt(std::int64_t rtt) {
    if (rtt < least_rtt_) [[unlikely]]
      shorten_base_rtt(static_cast<std::int32_t>(rtt));
  }
  void shorten_base_rtt(std::int32_t rtt);
  void learn(std::int32_t base_rtt);
  void update_average_delay(std::int64_t delay, std::int64_t bytes);
  [[nodiscard]] std::int64_t average_delay() const { return average_delay_q16_ >> 16; }

  void end_first_epoch(Instant now);
  bool quick_adapt(const QuickLook& look);
  bool end_epoch(const QuickLook& look);

  void fair_increase(std::int64_t received);
  void proportional_increase(std::int64_t received, std::int64_t delay);
  bool fast_increase(std::int64_t received, std::int64_t delay);
  void multiplicative_decrease(Instant now);
  void add_increase(std::int64_t gain, std::int64_t received);
  void drop_increase();
  void fulfill(Instant now);
  void clamp_window();
  [[nodiscard]] std::int64_t adapted_min() const;

  Parameters parameters_;

  Phase phase_ = Phase::kNew;
  bool knows_base_rtt_;     // it is configured, or has been learned, with signals or before
  bool fast_ = false;       // fast increase is on
  bool qa_wanted_ = false;  // something was trimmed since the last quick adapt
  bool in_epoch_ = false;   // `epoch_end_` has been set
  bool first_epoch_over_ = false;

  std::int32_t base_rtt_;    // ns, the least seen or the configured one
  std::int32_t least_rtt_;   // ns, the least seen; kNotMeasured while nothing is known
  std::int32_t max_window_;  // for that base RTT

  std::int64_t window_;
  std::int64_t window_before_penalty_ = 0;  // 0: no receiver penalty is to be undone
  std::int64_t average_delay_q16_ = 0;      // ns
  std::int64_t increase_ = 0;               // owed to the window, times the window: bytes squared
  std::int64_t received_since_adjust_ = 0;
  std::int64_t received_in_epoch_ = 0;       // of quick adapt
  std::int64_t received_without_delay_ = 0;  // in a row
  std::int64_t left_to_ignore_ = 0;          // was in flight at the last quick adapt, and still is

  Instant epoch_end_;
  Instant last_adjust_;
  Instant last_decrease_;
};

static_assert(sizeof(Nscc) <= 168, "an endpoint has one for every peer");

}  // namespace openmrc::core
