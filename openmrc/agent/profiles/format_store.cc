// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/profiles/format_store.h"

#include <algorithm>
#include <cerrno>

namespace openmrc::libmrc {
namespace {

bool is_mode(mrc_ctl_ev_fmt_mode mode) {
  return mode == MRC_CTL_EV_FMT_MODE_STEV || mode == MRC_CTL_EV_FMT_MODE_SRV6 ||
         mode == MRC_CTL_EV_FMT_MODE_UDP;
}

Outcome check_change(const FormatProfile& profile, const FormatChange& change, bool needed) {
  if (change.expected_state && *change.expected_state != profile.state) {
    return refused(EINVAL, "the format is not in the state that the caller expects");
  }
  if (profile.state == MRC_CTL_PROFILE_ONLINE) {
    if (change.mode || change.widths || change.vendor) {
      return refused(EINVAL, "an ONLINE format does not change; take it OFFLINE first");
    }
    if (change.state == MRC_CTL_PROFILE_OFFLINE && needed) {
      return refused(EBUSY, "an EV profile that is ONLINE uses the format");
    }
  }
  if (change.state && !is_one_step(profile.state, *change.state)) {
    return refused(EINVAL, "a format goes one step at a time: INIT, OFFLINE, ONLINE and back");
  }
  if (change.mode && !is_mode(*change.mode)) return refused(EINVAL, "unknown mode");
  return {};
}

Outcome check_widths(const FormatProfile& profile) {
  if (profile.widths.size() > core::kEvSlotsMax) {
    return refused(E2BIG, "the format has more fields than the device can fill");
  }
  if (std::ranges::any_of(profile.widths, [](std::uint8_t width) {
        return width == 0 || width > core::kEvFieldWidthMax;
      })) {
    return refused(EINVAL, "a field has 1 to 32 bits");
  }
  const core::EvFormat format = core_format(profile);
  if (profile.mode && format.width() > core::ev_width_max(format.mode)) {
    return refused(E2BIG, "the fields together have more bits than the mode carries");
  }
  return {};
}

// What a format needs to be in a state.
Outcome check_complete(const FormatProfile& profile) {
  if (profile.state != MRC_CTL_PROFILE_INIT && !profile.mode) {
    return refused(EINVAL, "the format has no mode yet");
  }
  if (profile.state == MRC_CTL_PROFILE_ONLINE && profile.widths.empty()) {
    return refused(EINVAL, "the format has no fields yet");
  }
  return check_widths(profile);
}

}  // namespace

Outcome FormatStore::modify(FormatId id, const FormatChange& change, bool needed) {
  FormatProfile changed = find(id);
  if (auto outcome = check_change(changed, change, needed); !outcome.ok()) return outcome;
  if (change.state == MRC_CTL_PROFILE_INIT) {
    profiles_.erase(id);
    return {};
  }
  if (!profiles_.contains(id) && profiles_.size() >= most_) {
    return refused(E2BIG, "there are as many formats as the device holds");
  }
  if (change.mode) changed.mode = change.mode;
  if (change.widths) changed.widths = *change.widths;
  if (change.vendor) changed.vendor = *change.vendor;
  changed.state = change.state.value_or(changed.state);
  if (auto outcome = check_complete(changed); !outcome.ok()) return outcome;
  profiles_[id] = std::move(changed);
  return {};
}

const FormatProfile& FormatStore::find(FormatId id) const {
  static const FormatProfile kUntouched;
  const auto found = profiles_.find(id);
  return found == profiles_.end() ? kUntouched : found->second;
}

}  // namespace openmrc::libmrc
