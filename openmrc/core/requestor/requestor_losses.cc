// SPDX-License-Identifier: BSD-3-Clause
// What of the packets in flight is lost, and what that says about their paths.
#include "openmrc/core/requestor/requestor.h"

namespace openmrc::core {

struct Requestor::LossSearch {
  LossDetector::Limits limits;
  bool had_gap;          // packets may have been overtaken that are not late
  bool has_gap = false;  // some were, but may still come
  unsigned candidates = kLossCandidatesPerSack;
};

bool Requestor::has_late(const Turn& turn) {
  LossDetector& losses = turn.peer.losses;
  const Instant late_before =
      newest_arrived_ - losses.tolerance(turn.now, turn.peer.congestion.base_rtt(),
                                         turn.context.settings.reorder_floor);
  const SentRef retransmitted = retransmitted_.oldest();
  if (retransmitted != kNoSent &&
      sent_packet(turn.context.sent, retransmitted).sent < late_before) {
    return true;
  }
  bool late = false;
  window_.visit_sent_once(turn.context.sent, [&](UnwrappedPsn, const SentPacket& packet) {
    late = packet.sent < late_before;
    return false;
  });
  return late;
}

// MRC 7.4.5. In the order of transmission, until one is reached that cannot be late yet. If packets
// on some path arrived out of order, others may have been overtaken: up to a limit, they are looked
// at too; they will be late at the latest when their time has come.
//
// A SACK speaks of one queue pair. That another one's packets have arrived which were sent later
// says nothing as long as this one's SACK may be on its way.
void Requestor::find_lost(const Turn& turn) {
  const std::uint32_t gaps = turn.peer.losses.gaps();
  LossSearch search{
      .limits = turn.peer.losses.limits(newest_arrived_, turn.now, turn.peer.congestion.base_rtt(),
                                        turn.context.settings.reorder_floor),
      .had_gap = gaps_seen_ != gaps};
  for (SentRef at = retransmitted_.oldest(); at != kNoSent;) {
    SentPacket& packet = sent_packet(turn.context.sent, at);
    const SentRef next = packet.after;
    if (!examine(turn, search, psn_of(turn.context.sent, at), packet)) break;
    at = next;
  }
  window_.visit_sent_once(turn.context.sent, [&](UnwrappedPsn psn, SentPacket& packet) {
    return examine(turn, search, psn, packet);
  });
  if (!search.has_gap) gaps_seen_ = gaps;
}

// Returns whether the next one may be lost too.
bool Requestor::examine(const Turn& turn, LossSearch& search, UnwrappedPsn psn,
                        SentPacket& packet) {
  using Verdict = LossDetector::Verdict;
  if (packet.sent > newest_arrived_) return false;
  if (packet.sent >= search.limits.late_before && !search.had_gap) return false;
  const Verdict verdict = turn.peer.losses.judge(packet, search.limits);
  if (verdict == Verdict::kInFlight) {
    const bool is_last = --search.candidates == 0;
    search.has_gap |= turn.peer.losses.is_overtaken(packet) || (is_last && search.had_gap);
    return !is_last;
  }
  lose(turn, psn, packet, Count::kRetransmitsLoss);
  // One that was overtaken, or is late, makes its path suspect; more leave no doubt (MRC 9.3.1).
  change_ev(turn.context, turn.connection.peer, turn.peer, packet.ev,
            verdict == Verdict::kOvertakenTwice ? EvInput::kLost : EvInput::kMissing, turn.now);
  return true;
}

}  // namespace openmrc::core
