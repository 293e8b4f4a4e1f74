// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/mapper/probe.h"

namespace openmrc::mapper {

// As many as bits of a word.
inline constexpr std::uint32_t kRoundsPerBatchMax = 64;

// Which probes of consecutive rounds were sent, and which came back: a bit each, so that one that
// comes back twice counts once.
struct Batch {
  struct Bits {
    std::uint64_t sent = 0;
    std::uint64_t replied = 0;

    [[nodiscard]] std::uint64_t lost() const { return sent & ~replied; }
  };
  // Why it says nothing about the network.
  enum class Noise : std::uint8_t {
    kNone,
    kHostLate,   // the process did not run in time, or did not take what had arrived
    kAllPlanes,  // packets of all planes were lost at once: the host, not a link
  };

  std::uint64_t first_round = 0;
  std::uint32_t rounds = 0;
  Instant started{};
  Instant last_sent{};
  Noise noise = Noise::kNone;
  std::vector<std::array<Bits, kProbeKinds>> planes{};

  struct RoundTrip {
    Plane plane{};
    ProbeKind kind = ProbeKind::kT0;
    std::uint8_t round = 0;  // from the first
    Duration time{};
  };
  std::vector<RoundTrip> round_trips{};  // of all that replied

  [[nodiscard]] const Bits& of(Plane plane, ProbeKind kind) const {
    return planes[plane.raw()][static_cast<std::size_t>(kind)];
  }
};

// Whether T0 probes were lost in all planes, and there are several: one has nothing to be compared
// with.
bool loses_in_all_planes(const Batch& batch);

// The rounds whose replies may still come. Nothing is known of single probes but two bits.
class RoundWindow {
 public:
  RoundWindow(std::uint32_t planes, std::uint32_t rounds_per_batch, Duration timeout)
      : planes_(planes), rounds_per_batch_(rounds_per_batch), timeout_(timeout) {}

  // The round is the first, or follows the one before.
  void begin_round(std::uint64_t round, Instant now);
  void sent(Plane plane, ProbeKind kind);  // in this round

  enum class Reply : std::uint8_t { kTaken, kAgain, kLate, kUnknown };
  Reply replied(std::uint64_t round, Plane plane, ProbeKind kind, Duration time);

  // What is on its way now says nothing.
  void spoil();

  // The next batch that is complete and that no reply is awaited for any more.
  std::optional<Batch> close(Instant now);

 private:
  std::uint32_t planes_;
  std::uint32_t rounds_per_batch_;
  Duration timeout_;
  std::deque<Batch> open_;
};

}  // namespace openmrc::mapper
