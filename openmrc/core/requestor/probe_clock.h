// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "openmrc/base/time.h"
#include "openmrc/core/peer/peer.h"
#include "openmrc/wire/header/peth.h"

namespace openmrc::core {

// When a requestor probes because it hears nothing (MRC 7.4.6; REL-60), and which answers count.
class ProbeClock {
 public:
  // When the next is due, if nothing was sent or heard since `quiet_since`, and a packet is overdue
  // at `overdue`.
  [[nodiscard]] Instant deadline(Instant quiet_since, Instant overdue, Duration rtt) const;
  // The probes of a peer's queue pairs form a line: who finds others in front takes a place behind
  // them, and returns when it is its turn (REL-63).
  [[nodiscard]] bool has_place(Peer& peer, Instant now);
  // One leaves. Returns its number.
  std::uint16_t send(Instant now);

  // Something was heard. Returns whether that changes when the next is due.
  bool heard() {
    const bool was_probing = in_row_ > 0;
    in_row_ = 0;
    return was_probing;
  }
  // When the probe was sent that is answered; nothing if its answer is not awaited. The latest one
  // is known exactly. An answer that comes after the next probe has left says it in its timestamp.
  // REL-66, REL-67
  [[nodiscard]] std::optional<Instant> sent_at(Instant now, wire::ProbeId id,
                                               std::uint16_t tx_ticks) const;
  void answered(Instant probe_sent) {
    if (probe_sent == sent_) awaited_ = false;
  }

 private:
  Instant sent_{};
  Instant place_{};  // not before then, so that others have their turn
  std::uint16_t id_ = 0;
  std::uint8_t in_row_ = 0;  // without feedback
  bool awaited_ = false;
};

}  // namespace openmrc::core
