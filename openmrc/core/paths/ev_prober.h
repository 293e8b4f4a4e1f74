// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "openmrc/base/time.h"
#include "openmrc/core/containers/timer_queue.h"
#include "openmrc/core/paths/ev_profile.h"

namespace openmrc::core {

// How ASSUMED_BAD paths are tried again (MRC 9.3.1 leaves it open).
struct ProbeSettings {
  std::uint8_t probe_successes = 3;           // in a row, to be good again
  Duration interval_max = milliseconds(100);  // doubles from one round trip up to this
  bool operator==(const ProbeSettings&) const = default;
};

// Probes the disabled paths until they work again (MRC 7.4.7, 9.3.1). Only says when to
// send which probe; the peer's owner sends it. Empty, and no memory, while all paths are good.
class EvProber {
 public:
  // From now on `ev` is disabled: first probe after one round trip.
  void add(EvIndex ev, Instant now, Duration rtt);
  void remove(EvIndex ev);
  // These EVs may work again: their port is back. As if they had gone bad just now.
  void start_again(PlaneRange evs, Instant now, Duration rtt);

  // The next path to probe, if one is due. The caller sends the probe. One that was not answered
  // until the next is due counts as lost, and doubles the interval.
  [[nodiscard]] std::optional<EvIndex> next_due(Instant now, Duration rtt,
                                                const ProbeSettings& settings);
  // A probe of `ev` was answered. Returns whether that makes it good again.
  [[nodiscard]] bool answered(EvIndex ev, Instant now, Duration rtt, const ProbeSettings& settings);

  [[nodiscard]] Instant next_time() const;
  [[nodiscard]] bool empty() const { return bad_.empty(); }

 private:
  struct BadEv {
    Instant next;  // when to send the next probe
    Duration interval;
    EvIndex ev;
    std::uint8_t clean = 0;  // answers in a row
    bool awaited = false;    // a probe is on its way
  };
  std::vector<BadEv> bad_;
};

}  // namespace openmrc::core
