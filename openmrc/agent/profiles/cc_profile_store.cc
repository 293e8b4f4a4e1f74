// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/profiles/cc_profile_store.h"

#include <cerrno>
#include <cmath>

namespace openmrc::libmrc {
namespace {

Outcome check_config(const mrc_ctl_cc_nscc_cfg& config) {
  for (const float each :
       {config.eta, config.fi, config.fi_scale, config.gamma, config.max_md_jump}) {
    if (!std::isfinite(each) || each < 0) {
      return refused(EINVAL, "a factor of the algorithm is negative or no number");
    }
  }
  if (config.gamma > 1 || config.max_md_jump > 1) {
    return refused(EINVAL, "gamma and max_md_jump are parts of a whole, at most 1");
  }
  return {};
}

Outcome check_change(const CcProfile& profile, const CcProfileChange& change, bool in_use) {
  if (change.expected_state && *change.expected_state != profile.state) {
    return refused(EINVAL, "the profile is not in the state that the caller expects");
  }
  if (profile.state == MRC_CTL_PROFILE_ONLINE) {
    if (change.algorithm || change.config || change.vendor) {
      return refused(EINVAL, "an ONLINE profile does not change; take it OFFLINE first");
    }
    if (change.state == MRC_CTL_PROFILE_OFFLINE && in_use) {
      return refused(EBUSY, "queue pairs use the profile");
    }
  }
  if (change.state && !is_one_step(profile.state, *change.state)) {
    return refused(EINVAL, "a profile goes one step at a time: INIT, OFFLINE, ONLINE and back");
  }
  if (change.algorithm && !change.algorithm->empty() && *change.algorithm != kNsccName) {
    return refused(EINVAL, "the device does not know this algorithm");
  }
  if (change.config) return check_config(*change.config);
  return {};
}

// What a profile needs to be in a state.
Outcome check_complete(const CcProfile& profile) {
  if (profile.state != MRC_CTL_PROFILE_INIT && !profile.algorithm) {
    return refused(EINVAL, "the profile has no algorithm yet");
  }
  if (profile.config && profile.algorithm && profile.algorithm->empty()) {
    return refused(EINVAL, "there is nothing to configure without an algorithm");
  }
  const bool needs_config = profile.algorithm && !profile.algorithm->empty();
  if (profile.state == MRC_CTL_PROFILE_ONLINE && needs_config && !profile.config) {
    return refused(EINVAL, "the profile has no configuration of its algorithm yet");
  }
  return {};
}

}  // namespace

Outcome CcProfileStore::modify(CcProfileId id, const CcProfileChange& change) {
  CcProfile changed = find(id);
  if (auto outcome = check_change(changed, change, uses(id) > 0); !outcome.ok()) return outcome;
  if (change.state == MRC_CTL_PROFILE_INIT) {
    profiles_.erase(id);
    return {};
  }
  if (!profiles_.contains(id) && profiles_.size() >= most_) {
    return refused(EINVAL, "there are as many congestion control profiles as the device holds");
  }
  if (change.algorithm && change.algorithm != changed.algorithm) changed.config.reset();
  if (change.algorithm) changed.algorithm = change.algorithm;
  if (change.config) changed.config = change.config;
  if (change.vendor) changed.vendor = *change.vendor;
  changed.state = change.state.value_or(changed.state);
  if (auto outcome = check_complete(changed); !outcome.ok()) return outcome;
  profiles_[id] = std::move(changed);
  return {};
}

const CcProfile& CcProfileStore::find(CcProfileId id) const {
  static const CcProfile kUntouched;
  const auto found = profiles_.find(id);
  return found == profiles_.end() ? kUntouched : found->second;
}

Outcome CcProfileStore::use(CcProfileId id) {
  if (find(id).state != MRC_CTL_PROFILE_ONLINE) {
    return refused(EINVAL, "the congestion control profile is not ONLINE");
  }
  ++uses_[id];
  return {};
}

void CcProfileStore::release(CcProfileId id) {
  const auto found = uses_.find(id);
  if (found != uses_.end() && --found->second == 0) uses_.erase(found);
}

std::size_t CcProfileStore::uses(CcProfileId id) const {
  const auto found = uses_.find(id);
  return found == uses_.end() ? 0 : found->second;
}

}  // namespace openmrc::libmrc
