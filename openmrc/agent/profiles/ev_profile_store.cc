// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/profiles/ev_profile_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "openmrc/agent/profiles/profile_names.h"

namespace openmrc::libmrc {
namespace {

bool is_mode(mrc_ctl_ev_mode mode) {
  return mode == MRC_CTL_EV_MODE_AUTO || mode == MRC_CTL_EV_MODE_EXP || mode == MRC_CTL_EV_MODE_GEN;
}

bool is_settable(mrc_ctl_ev_state state) {
  return state == MRC_CTL_EV_GOOD || state == MRC_CTL_EV_ASSUMED_BAD || state == MRC_CTL_EV_DENIED;
}

bool changes_evs(const EvProfileChange& change) {
  return change.mode || change.format || change.count || change.fields;
}

// How many different EVs the ranges give, or the limit if they are more.
std::size_t count_different(std::span<const core::EvField> fields, std::size_t limit) {
  std::size_t product = 1;
  for (const core::EvField& field : fields) {
    product = std::min(product * (std::size_t{field.max} - field.min + 1), limit);
  }
  return product;
}

std::vector<EvStatus> statuses_of(const core::EvProfile& profile) {
  std::vector<EvStatus> evs;
  evs.reserve(profile.size());
  for (std::size_t i = 0; i < profile.size(); ++i) {
    evs.push_back({key_at(profile, core::EvIndex(static_cast<std::uint8_t>(i))), MRC_CTL_EV_GOOD});
  }
  return evs;
}

Outcome no_such_ev(const EvKey& ev, std::size_t entries_done = 0) {
  return refused(ENOENT,
                 fmt::format("the profile has no EV {}@{}; `mrc ctl show` lists those it has",
                             hex_of(ev.value), ev.port.raw()),
                 entries_done);
}

// What can be checked of an ONLINE profile without its EVs.
Outcome check_online(const EvProfile& profile) {
  if (profile.mode == MRC_CTL_EV_MODE_AUTO) return {};
  if (!profile.min_active) return refused(EINVAL, "the profile has no ev_min_active yet");
  if (!profile.event_mask) return refused(EINVAL, "the profile has no ev_event_mask yet");
  if (std::ranges::any_of(profile.evs,
                          [](const EvStatus& each) { return each.ev == kUnpopulated; })) {
    return refused(EINVAL, "the profile has places without an EV");
  }
  return {};
}

void set_attributes(EvProfile& profile, const EvProfileChange& change) {
  if (change.mode && change.mode != profile.mode) profile.evs.clear();
  if (change.mode) profile.mode = change.mode;
  if (change.format) profile.format = change.format;
  if (change.count) profile.wanted_count = change.count;
  if (change.min_active) profile.min_active = change.min_active;
  if (change.event_mask) profile.event_mask = change.event_mask;
  if (change.fields) profile.fields = *change.fields;
  if (change.vendor) profile.vendor = *change.vendor;
}

}  // namespace

EvProfileStore::EvProfileStore(const DeviceLimits& limits, const FormatStore& formats,
                               std::shared_ptr<const core::EvProfile> automatic)
    : limits_(limits), formats_(&formats), automatic_(std::move(automatic)) {}

Outcome EvProfileStore::check_change(EvProfileId id, const EvProfile& profile,
                                     const EvProfileChange& change) const {
  if (change.edits && change.fields) {
    return refused(EINVAL, "EVs and fields do not change in one call");
  }
  if (change.expected_state && *change.expected_state != profile.state) {
    return refused(EINVAL, "the profile is not in the state that the caller expects");
  }
  if (profile.state == MRC_CTL_PROFILE_ONLINE) {
    const bool replaces =
        change.edits && std::ranges::any_of(*change.edits, [](const EvEdit& each) {
          return each.replacement.has_value();
        });
    if (changes_evs(change) || replaces || change.min_active || change.event_mask ||
        change.vendor) {
      return refused(EINVAL, "of an ONLINE profile only the states of EVs change");
    }
    if (change.state == MRC_CTL_PROFILE_OFFLINE && uses(id) > 0) {
      return refused(EBUSY, "queue pairs use the profile");
    }
  }
  if (change.state && !is_one_step(profile.state, *change.state)) {
    return refused(EINVAL, "a profile goes one step at a time: INIT, OFFLINE, ONLINE and back");
  }
  if (change.mode && !is_mode(*change.mode)) return refused(EINVAL, "unknown mode");
  constexpr int kEvents = MRC_CTL_EV_GOOD | MRC_CTL_EV_ASSUMED_BAD;
  if (change.event_mask && (*change.event_mask & ~kEvents) != 0) {
    return refused(EINVAL, "events report GOOD and ASSUMED_BAD only");
  }
  return {};
}

Outcome EvProfileStore::modify(EvProfileId id, const EvProfileChange& change,
                               std::vector<EvStatus>& changed) {
  EvProfile profile = find(id);
  if (auto outcome = check_change(id, profile, change); !outcome.ok()) return outcome;
  if (change.state == MRC_CTL_PROFILE_INIT) {
    profiles_.erase(id);
    return {};
  }
  if (!profiles_.contains(id) && profiles_.size() >= limits_.ev_profiles_max) {
    return refused(E2BIG, "there are as many EV profiles as the device holds");
  }
  set_attributes(profile, change);
  const ProfileState before = profile.state;
  const ProfileState after = change.state.value_or(before);
  const bool made_now = before == MRC_CTL_PROFILE_INIT && after == MRC_CTL_PROFILE_OFFLINE;
  if (made_now || (before == MRC_CTL_PROFILE_OFFLINE && changes_evs(change))) {
    if (auto outcome = shape(id, profile); !outcome.ok()) return outcome;
  }
  if (after != MRC_CTL_PROFILE_INIT && profile.min_active.value_or(0) > profile.evs.size()) {
    return refused(EINVAL, "ev_min_active is above the number of EVs");
  }
  std::vector<EvStatus> edited;
  Outcome edits = edit_all(profile, change.edits.value_or(std::vector<EvEdit>{}), edited);
  if (edits.ok()) {
    if (before == MRC_CTL_PROFILE_OFFLINE && after == MRC_CTL_PROFILE_ONLINE) {
      auto paths = go_online(profile);
      if (!paths) return paths.error();
      online_[id] = std::move(*paths);
    }
    if (after == MRC_CTL_PROFILE_OFFLINE) online_.erase(id);
    profile.state = after;
  }
  if (profile.state == MRC_CTL_PROFILE_ONLINE) changed = std::move(edited);
  profiles_[id] = std::move(profile);
  return edits;
}

Outcome EvProfileStore::shape(EvProfileId id, EvProfile& profile) const {
  if (!profile.mode) return refused(EINVAL, "the profile has no mode yet");
  if (*profile.mode == MRC_CTL_EV_MODE_AUTO) {
    if (automatic_ == nullptr) return refused(EINVAL, "the device has no EVs of its own");
    profile.evs = statuses_of(*automatic_);
    return check_room(id, profile.evs.size());
  }
  if (!profile.format) return refused(EINVAL, "the profile has no format yet");
  if (!profile.wanted_count) return refused(EINVAL, "the profile has no ev_count yet");
  const FormatProfile& format = formats_->find(*profile.format);
  if (!format.mode || format.widths.empty()) {
    return refused(EINVAL, "the profile's format has no mode or no fields");
  }
  if (const auto result = core::check_fields(core_format(format), profile.fields); !result) {
    return refused(EINVAL, std::string(core::describe(result.error())));
  }
  auto outcome =
      *profile.mode == MRC_CTL_EV_MODE_EXP ? shape_explicit(profile) : shape_generated(id, profile);
  return outcome.ok() ? check_room(id, profile.evs.size()) : outcome;
}

Outcome EvProfileStore::shape_explicit(EvProfile& profile) const {
  const std::size_t count = *profile.wanted_count;
  if (count > limits_.evs_per_profile_max()) {
    return refused(E2BIG, "ev_count is above what a profile holds");
  }
  if (count == 0 || count % limits_.ev_align() != 0) {
    return refused(EINVAL, "ev_count is not a multiple of the device's ev_count_align");
  }
  profile.evs.resize(count);
  return {};
}

Outcome EvProfileStore::shape_generated(EvProfileId id, EvProfile& profile) const {
  if (profile.fields.empty())
    return refused(EINVAL, "EVs are generated from fields: there are none");
  const std::size_t most =
      std::min<std::size_t>(*profile.wanted_count, limits_.evs_per_profile_max());
  const std::size_t possible = count_different(profile.fields, most);
  const std::size_t count = possible / limits_.ev_align() * limits_.ev_align();
  if (count == 0) return refused(EINVAL, "the fields or ev_count do not give one EV for each port");
  const auto drawn =
      core::EvProfile::generated({.format = core_format(formats_->find(*profile.format)),
                                  .fields = profile.fields,
                                  .count = count,
                                  .planes = limits_.planes,
                                  .seed = id.raw()});
  if (!drawn) return refused(EINVAL, to_string(drawn.error()));
  profile.evs = statuses_of(*drawn);
  return {};
}

Outcome EvProfileStore::check_room(EvProfileId id, std::size_t count) const {
  if (count <= evs_free() + find(id).evs.size()) return {};
  return refused(E2BIG, "the device has not so many EVs left");
}

Outcome EvProfileStore::edit_all(EvProfile& profile, const std::vector<EvEdit>& edits,
                                 std::vector<EvStatus>& changed) const {
  for (std::size_t i = 0; i < edits.size(); ++i) {
    auto outcome = edit(profile, edits[i], changed);
    if (!outcome.ok()) return refused(outcome.error, std::move(outcome.why), i);
  }
  return {.entries_done = edits.size()};
}

Outcome EvProfileStore::edit(EvProfile& profile, const EvEdit& edit,
                             std::vector<EvStatus>& changed) const {
  if (!is_settable(edit.state)) return refused(EINVAL, "EVs are set GOOD, ASSUMED_BAD or DENIED");
  if (edit.replacement) {
    if (profile.mode != MRC_CTL_EV_MODE_EXP || !profile.format) {
      return refused(EINVAL, "only EVs that were listed can be replaced");
    }
    if (auto outcome = check_new_ev(profile, *edit.replacement); !outcome.ok()) return outcome;
  } else if (edit.ev == kUnpopulated) {
    return refused(ENOENT, "a place without an EV has no state");
  }
  bool found = false;
  for (EvStatus& each : profile.evs) {
    if (each.ev != edit.ev) continue;
    each = {edit.replacement.value_or(edit.ev), edit.state};
    changed.push_back(each);
    found = true;
    if (!edit.all_copies) break;
  }
  return found ? Outcome{} : no_such_ev(edit.ev);
}

Outcome EvProfileStore::check_new_ev(const EvProfile& profile, const EvKey& ev) const {
  if (ev == kUnpopulated) return {};
  if (ev.port.raw() == 0 || ev.port.raw() > limits_.planes) {
    return refused(EINVAL, "an EV has a port that the device has not");
  }
  const FormatProfile& format = formats_->find(*profile.format);
  const core::EvFormat core = core_format(format);
  const core::EvFields identity = core::identity_fields(core);
  const std::span<const core::EvField> fields =
      profile.fields.empty() ? std::span<const core::EvField>(identity) : profile.fields;
  if (!core::check_fields(core, fields) || !core::expand(core, fields, ev.value)) {
    return refused(EINVAL, "an EV has bits that no field takes");
  }
  return {};
}

Result<std::shared_ptr<const core::EvProfile>, Outcome> EvProfileStore::go_online(
    const EvProfile& profile) const {
  if (auto outcome = check_online(profile); !outcome.ok()) return failure(std::move(outcome));
  if (profile.mode == MRC_CTL_EV_MODE_AUTO) return automatic_;
  if (formats_->find(*profile.format).state != MRC_CTL_PROFILE_ONLINE) {
    return failure(refused(EINVAL, "the profile's format is not ONLINE"));
  }
  auto paths = expand(image_of(profile), limits_.planes);
  if (!paths) return failure(refused(EINVAL, to_string(paths.error())));
  return *paths;
}

const EvProfile& EvProfileStore::find(EvProfileId id) const {
  static const EvProfile kUntouched;
  const auto found = profiles_.find(id);
  return found == profiles_.end() ? kUntouched : found->second;
}

EvProfileImage EvProfileStore::image(EvProfileId id) const { return image_of(find(id)); }

EvProfileImage EvProfileStore::image_of(const EvProfile& profile) const {
  const bool automatic = profile.mode == MRC_CTL_EV_MODE_AUTO;
  return {
      .mode = profile.mode.value_or(MRC_CTL_EV_MODE_AUTO),
      .format = automatic || !profile.format ? FormatProfile{} : formats_->find(*profile.format),
      .fields = automatic ? std::vector<core::EvField>{} : profile.fields,
      .evs = profile.evs,
      .min_active = profile.min_active.value_or(0),
      .event_mask = profile.event_mask.value_or(0)};
}

std::shared_ptr<const core::EvProfile> EvProfileStore::paths(EvProfileId id) const {
  const auto found = online_.find(id);
  return found == online_.end() ? nullptr : found->second;
}

Outcome EvProfileStore::query_states(EvProfileId id, std::span<EvStatus> evs) const {
  const EvProfile& profile = find(id);
  for (std::size_t i = 0; i < evs.size(); ++i) {
    const auto found = std::ranges::find(profile.evs, evs[i].ev, &EvStatus::ev);
    if (found == profile.evs.end()) return no_such_ev(evs[i].ev, i);
    evs[i].state = found->state;
  }
  return {.entries_done = evs.size()};
}

bool EvProfileStore::report(EvProfileId id, const EvStatus& seen) {
  const auto found = profiles_.find(id);
  if (found == profiles_.end() || found->second.state != MRC_CTL_PROFILE_ONLINE) return false;
  if (seen.state != MRC_CTL_EV_GOOD && seen.state != MRC_CTL_EV_ASSUMED_BAD) return false;
  EvProfile& profile = found->second;
  bool known = false;
  for (EvStatus& each : profile.evs) {
    if (each.ev != seen.ev) continue;
    known = true;
    if (each.state != MRC_CTL_EV_DENIED) each.state = seen.state;
  }
  return known && (profile.event_mask.value_or(0) & seen.state) != 0;
}

Outcome EvProfileStore::use(EvProfileId id) {
  if (find(id).state != MRC_CTL_PROFILE_ONLINE) {
    return refused(EINVAL, "the EV profile is not ONLINE");
  }
  ++uses_[id];
  return {};
}

void EvProfileStore::release(EvProfileId id) {
  const auto found = uses_.find(id);
  if (found != uses_.end() && --found->second == 0) uses_.erase(found);
}

std::size_t EvProfileStore::uses(EvProfileId id) const {
  const auto found = uses_.find(id);
  return found == uses_.end() ? 0 : found->second;
}

bool EvProfileStore::needs_format(FormatId format) const {
  return std::ranges::any_of(profiles_, [&](const auto& each) {
    const EvProfile& profile = each.second;
    return profile.state == MRC_CTL_PROFILE_ONLINE && profile.mode != MRC_CTL_EV_MODE_AUTO &&
           profile.format == format;
  });
}

std::size_t EvProfileStore::evs_free() const {
  std::size_t taken = 0;
  for (const auto& [id, profile] : profiles_) taken += profile.evs.size();
  return limits_.evs_max - std::min(taken, limits_.evs_max);
}

Outcome EvProfileStore::restore(EvProfileId id, EvProfile saved) {
  std::vector<EvStatus> changed;
  const bool made = saved.state != MRC_CTL_PROFILE_INIT;
  Outcome outcome = modify(id,
                           {.state = made ? std::optional(MRC_CTL_PROFILE_OFFLINE) : std::nullopt,
                            .mode = saved.mode,
                            .format = saved.format,
                            .count = saved.wanted_count,
                            .min_active = saved.min_active,
                            .event_mask = saved.event_mask,
                            .fields = saved.fields,
                            .vendor = saved.vendor},
                           changed);
  if (!outcome.ok()) return outcome;
  EvProfile& profile = profiles_[id];
  if (made && saved.mode != MRC_CTL_EV_MODE_AUTO) {
    if (profile.evs.size() != saved.evs.size()) {
      profiles_.erase(id);
      return refused(EINVAL, "the device would make another number of EVs");
    }
    profile.evs = std::move(saved.evs);
  }
  if (saved.state != MRC_CTL_PROFILE_ONLINE) return {};
  return modify(id, {.state = MRC_CTL_PROFILE_ONLINE}, changed);
}

}  // namespace openmrc::libmrc
