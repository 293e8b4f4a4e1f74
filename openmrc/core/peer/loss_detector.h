// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "openmrc/base/time.h"
#include "openmrc/core/containers/prefetch_memory.h"
#include "openmrc/core/containers/timer_queue.h"
#include "openmrc/core/context/sent_pool.h"
#include "openmrc/core/paths/ev_profile.h"

namespace openmrc::core {

// When a packet that is missing is lost (MRC 7.4.5; RACK, RFC 8985): something has arrived that was
// sent so much later that different lengths of paths and queues do not explain it, or something
// that was sent later on the same path. What it knows of paths and of how late packets can be comes
// from all queue pairs to a peer.
//
// A packet that is lost says little about its path: that is for PathHealth to judge (REL-37).
class LossDetector {
 public:
  // Begins to keep track of what is in flight, and ends it. Of peers that are idle nothing is kept.
  // `floor`: the same as that of all calls that follow; none if it may be any.
  void start(std::size_t paths, std::optional<Duration> floor = std::nullopt) {
    on_path_ = std::make_unique<OnPath[]>(paths);
    if (floor != Duration{}) heard_ = std::make_unique<Instant[]>(paths);
  }
  void stop() {
    on_path_.reset();
    heard_.reset();
  }
  [[nodiscard]] bool is_running() const { return on_path_ != nullptr; }

  void prefetch(std::size_t paths) const {
    prefetch_memory(on_path_.get(), paths * sizeof(OnPath));
  }

  // A packet leaves, for the first time or again.
  void on_sent(SentPacket& packet) { packet.order_on_path = ++on_path_[packet.path.raw()].sent; }
  // It has arrived, or is declared lost: it is in flight no longer.
  void on_settled(const SentPacket& packet) {
    if (++on_path_[packet.path.raw()].settled != packet.order_on_path) ++gaps_;
  }
  // The same for a packet that was sent once, and has arrived. Of one that was sent more often it
  // is not certain which transmission has: what that says about time is within the tolerance, but
  // it overtakes nothing on a path.
  void on_arrived(const SentPacket& packet, Instant now) {
    OnPath& on_path = on_path_[packet.path.raw()];
    if (++on_path.settled != packet.order_on_path) ++gaps_;
    if (heard_) heard_[packet.path.raw()] = now;
    if (static_cast<std::int16_t>(packet.order_on_path - on_path.latest) > 0) {
      on_path.latest = packet.order_on_path;
    }
  }
  // The latest packet of a queue pair that has arrived was sent then.
  void on_sack(Instant newest_arrived) {
    newest_arrived_ = std::max(newest_arrived_, newest_arrived);
  }
  // It was this much behind others of its queue pair.
  void on_reordered(Duration late, Instant now) {
    if (late < lateness_) return;
    lateness_ = late;
    lateness_changed_ = now;
  }
  // What was declared lost has arrived after all, this much later than others that were sent with
  // it or after it.
  void on_spurious(Duration late, Instant now, Duration base_rtt);

  // How much earlier than something that has arrived a packet must have been sent to be late: less
  // than a round trip, or more if that was seen of late, so that a dead path shows within two round
  // trips and full queues on some paths do not look like loss. At least `floor` (REL-38, REL-40).
  [[nodiscard]] static Duration least_tolerance(Duration base_rtt) {
    return base_rtt * kToleranceEighths / 8;
  }
  [[nodiscard]] Duration tolerance(Instant now, Duration base_rtt, Duration floor) {
    if (lateness_ > Duration{} && now - lateness_changed_ > base_rtt * kLatenessFadesAfter) {
      lateness_ = lateness_ * 3 / 4;
      lateness_changed_ = now;
    }
    const Duration beyond_seen = lateness_ + least_tolerance(base_rtt);
    return std::max(std::min(beyond_seen, base_rtt * kToleranceMaxInRtts), floor);
  }

  enum class Verdict : std::uint8_t {
    kInFlight,
    kLate,            // others arrived that were sent much later
    kOvertaken,       // one arrived that was sent later on its path
    kOvertakenTwice,  // two or more did
  };
  // What is asked of a packet, the same for all of a search.
  struct Limits {
    Instant late_before;       // sent before then and not here: late
    Instant overtaken_before;  // sent by then and overtaken: lost
    Instant silent_since;      // a path that was heard since then is slow
  };
  // `newest_arrived`: when the latest packet of the queue pair that has arrived was sent.
  [[nodiscard]] Limits limits(Instant newest_arrived, Instant now, Duration base_rtt,
                              Duration floor);
  // When the packet will be late if it has not arrived by then, though others that were sent later
  // have.
  [[nodiscard]] Instant late_at(const SentPacket& packet, Instant now, Duration rtt,
                                Duration base_rtt, Duration floor);
  [[nodiscard]] Verdict judge(const SentPacket& packet, const Limits& limits) const;

  // Whether something has arrived that was sent later on its path.
  [[nodiscard]] bool is_overtaken(const SentPacket& packet) const {
    return overtaken_by(packet) > 0;
  }

  // How often packets on one path were settled in another order than they were sent: some may have
  // been overtaken.
  [[nodiscard]] std::uint32_t gaps() const { return gaps_; }

  // When the latest of those that have arrived was sent.
  [[nodiscard]] Instant newest_arrived() const { return newest_arrived_; }
  // The most that packets were seen to arrive behind others that were sent later; fades (REL-39).
  [[nodiscard]] Duration lateness() const { return lateness_; }
  // How many packets on the path have arrived or are declared lost, wrapping.
  [[nodiscard]] std::uint16_t settled(PathIndex path) const {
    return on_path_ ? on_path_[path.raw()].settled : std::uint16_t{0};
  }

 private:
  // Beyond what packets were seen to be late by. Seven eighths of a round trip show a dead path
  // within two; with three quarters, an undisturbed fabric of 131,072 NICs has 55 spurious losses
  // instead of 4. What full queues on one path and empty ones on another explain is less than four.
  static constexpr std::int64_t kToleranceEighths = 7;
  static constexpr std::int64_t kToleranceMaxInRtts = 4;
  // What was seen fades by a quarter at a time.
  static constexpr std::int64_t kLatenessFadesAfter = 64;  // round trips

  // Small: each packet that is sent or arrives touches another one, mostly out of the cache.
  struct OnPath {
    std::uint16_t sent = 0;     // how many were, wrapping
    std::uint16_t settled = 0;  // how many have arrived or are declared lost, wrapping
    std::uint16_t latest = 0;   // the order of the latest that has arrived
  };

  [[nodiscard]] std::int16_t overtaken_by(const SentPacket& packet) const {
    return static_cast<std::int16_t>(on_path_[packet.path.raw()].latest - packet.order_on_path);
  }

  std::unique_ptr<OnPath[]> on_path_;  // by path
  // By path: when something that took it was last known to have arrived. Null without a floor:
  // nobody asks.
  std::unique_ptr<Instant[]> heard_;
  Instant newest_arrived_{};
  Duration lateness_{};  // the most that was seen lately; decays
  Instant lateness_changed_{};
  std::uint32_t gaps_ = 0;
};

}  // namespace openmrc::core
