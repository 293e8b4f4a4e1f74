// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/rc/rc_receiver.h"

#include "openmrc/sim/rc/dcqcn.h"

namespace openmrc::sim {

RcReceiver::Outcome RcReceiver::receive(const wire::RdmaWrite& write, bool marked,
                                        Picoseconds now) {
  Outcome outcome;
  if (marked && now >= next_congestion_) {
    outcome.congestion = true;
    next_congestion_ = now + kCnpInterval;
  }
  const std::int64_t ahead = write.psn.distance_from(expected_);
  if (ahead > 0 && early_ != nullptr) {
    std::optional<MessageTag> ends;
    if (const auto immediate = write.part.immediate()) ends = immediate->raw();
    early_->add(write.psn, ends);
    outcome.selective = true;
    return outcome;
  }
  if (ahead > 0) {
    outcome.nak = !asked_again_;
    asked_again_ = true;
    return outcome;
  }
  // A packet that was here before is acknowledged again: the acknowledgement may have been lost.
  outcome.ack = write.ack_request;
  if (ahead < 0) return outcome;
  expected_ = delivered_ = expected_ + 1;
  asked_again_ = false;
  if (early_ != nullptr) {
    while (early_->take(expected_)) expected_ = expected_ + 1;
    outcome.closes_gap = expected_ != delivered_;
    outcome.ack = outcome.ack || outcome.closes_gap;
  }
  if (const auto immediate = write.part.immediate()) outcome.delivered = immediate->raw();
  return outcome;
}

std::optional<MessageTag> RcReceiver::take_delivered() {
  while (delivered_ != expected_) {
    const Psn psn = delivered_;
    delivered_ = delivered_ + 1;
    if (const auto tag = early_->take_end(psn)) return tag;
  }
  return std::nullopt;
}

}  // namespace openmrc::sim
