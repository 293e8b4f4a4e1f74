// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "openmrc/base/time.h"
#include "openmrc/core/containers/timer_queue.h"
#include "openmrc/core/paths/ev_profile.h"

namespace openmrc::core {

// How disabled paths are tried again (MRC 9.3.1; PATH-50 leaves it open).
struct ProbeSettings {
  std::uint8_t probe_successes = 3;           // in a row, for a failed path to be good again
  Duration interval_max = milliseconds(100);  // doubles from one round trip up to this
  bool operator==(const ProbeSettings&) const = default;
};

// Judges whether the paths on which packets went missing have failed (MRC 7.4.7, 9.3.1), and when
// they may be used again. Only says when to send which probe; the peer's owner sends it, and
// changes the state of the path. Empty, and no memory, as long as nothing is missing.
//
//  - A suspect path is probed at once. An answer clears it; none confirms the failure.
//  - A failed path is probed at doubling distances. Some answers in a row clear it.
//  - Every failure adds to the path's score, and packets that arrive on it reduce the score: it
//    compares losses with what is delivered. A path that has failed repeatedly is held back, twice
//    as long each time (as BGP and links do it: flap damping), however well its probes do.
// PATH-48, PATH-49, PATH-53, PATH-54
class PathHealth {
 public:
  // What the path's owner knows when a packet is missing on it.
  struct Missing {
    PathIndex path;
    std::uint16_t delivered = 0;  // how many have arrived on the path so far, wrapping
    Instant now;
    Duration rtt;
  };
  void suspect(const Missing& missing) { take(missing, true); }
  void fail(const Missing& missing) { take(missing, false); }
  // Whether one missing packet is no reason to suspect the path: nothing else was of late. Adds to
  // the score if so (PATH-41).
  [[nodiscard]] bool tolerates(const Missing& missing);
  // The path is in use again, or nobody's business: it is not probed any more.
  void release(PathIndex path);
  // The same, and it turned out that nothing was missing: the score is as it was before.
  void acquit(PathIndex path);
  // The port of these paths is back. As if they had failed just now.
  void start_again(PathRange paths, Instant now, Duration rtt);

  // Nothing comes back from the peer: none of the paths in use may work, so those that are not have
  // to be tried soon, however often they failed.
  void hurry(Instant now, Duration rtt);

  struct Probe {
    PathIndex path;
    bool confirms_failure = false;  // the one before had no answer, and the path was suspect
  };
  // The next probe that is due. The caller sends it. One that was not answered until the next is
  // due, and `patience` has passed, counts as lost, and doubles the interval.
  [[nodiscard]] std::optional<Probe> next_due(Instant now, Duration patience,
                                              const ProbeSettings& settings);
  // A probe of the path was answered. Returns whether the path is good again.
  [[nodiscard]] bool answered(PathIndex path, Instant now, Duration rtt,
                              const ProbeSettings& settings);

  [[nodiscard]] Instant next_time() const;
  // Whether any path is disabled.
  [[nodiscard]] bool empty() const;

  // So many packets that arrive make up for one that is missing.
  static constexpr unsigned kDeliveredPerLoss = 64;
  static constexpr unsigned kScoreMax = 20;

 private:
  struct Record {
    Instant next = kNever;  // when to send the next probe; never: the path is in use
    Instant held_until{};
    Duration interval{};
    std::uint16_t delivered = 0;  // at the last loss
    PathIndex path;
    std::uint8_t score = 0;  // as of the last loss
    std::uint8_t clean = 0;  // answers in a row
    bool suspect = false;
    bool awaited = false;  // a probe is on its way
  };
  [[nodiscard]] Record* find(PathIndex path);
  void take(const Missing& missing, bool suspect);
  // What is left of the score after all that was delivered since the last loss.
  [[nodiscard]] static unsigned score_now(const Record& record, const Missing& missing);

  std::vector<Record> records_;  // of disabled paths, and of those whose score is not zero
};

}  // namespace openmrc::core
