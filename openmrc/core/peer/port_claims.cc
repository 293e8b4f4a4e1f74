// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/peer/port_claims.h"

#include <algorithm>

namespace openmrc::core {

PlaneMask PortClaims::add(PlaneMask down, Instant now, Duration rtt) {
  if (const PlaneMask fresh = down.without(claimed_); !fresh.empty()) {
    claimed_ = claimed_ | fresh;
    probed_ = probed_.without(fresh);
    confirmed_ = confirmed_.without(fresh);
    // Not with every packet of somebody who says it again and again (SEC-24).
    next_ = std::max(now, last_ + rtt);
    interval_ = rtt * 2;
  }
  return now < refuted_until_ ? down.without(refuted_) : down;
}

void PortClaims::withdraw(PlaneMask up) {
  claimed_ = claimed_.without(up);
  if (claimed_.empty()) next_ = kNever;
}

bool PortClaims::refute(Plane plane, Instant now) {
  if (!claimed_.has(plane)) return false;
  withdraw(PlaneMask::only(plane));
  if (confirmed_.has(plane)) return true;
  if (now >= refuted_until_) refuted_ = {};
  refuted_.add(plane);
  refuted_until_ = now + kDistrustFor;
  return true;
}

PortClaims::Due PortClaims::due(Instant now, Duration interval_max) {
  if (now < next_) return {};
  const Due due{.probe = claimed_, .confirmed = claimed_ & probed_};
  confirmed_ = confirmed_ | due.confirmed;
  probed_ = claimed_;
  last_ = now;
  next_ = now + interval_;
  interval_ = std::min(interval_ * 2, interval_max);
  return due;
}

}  // namespace openmrc::core
