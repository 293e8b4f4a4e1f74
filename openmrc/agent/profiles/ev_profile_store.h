// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "openmrc/agent/profiles/format_store.h"
#include "openmrc/agent/profiles/profile_types.h"

namespace openmrc::libmrc {

// EV profiles: AUTO (the device's own EVs), EXP (a list), GEN (drawn from the ranges of fields).
class EvProfileStore {
 public:
  // `automatic`: the EVs of AUTO profiles; null if the device has none. `formats` outlives this.
  EvProfileStore(const DeviceLimits& limits, const FormatStore& formats,
                 std::shared_ptr<const core::EvProfile> automatic);

  // Nothing changes if it is refused, with one exception: of edits, those before the first wrong
  // one stay done. `changed` gets the EVs of an ONLINE profile whose state was set.
  Outcome modify(EvProfileId id, const EvProfileChange& change, std::vector<EvStatus>& changed);
  // One that has never been set is in INIT.
  [[nodiscard]] const EvProfile& find(EvProfileId id) const;
  [[nodiscard]] const std::map<EvProfileId, EvProfile>& all() const { return profiles_; }
  // What applications get of an ONLINE profile.
  [[nodiscard]] EvProfileImage image(EvProfileId id) const;
  // The paths of an ONLINE profile, or null.
  [[nodiscard]] std::shared_ptr<const core::EvProfile> paths(EvProfileId id) const;

  // States that the caller asks for, by EV; ENOENT at the first that is not there.
  [[nodiscard]] Outcome query_states(EvProfileId id, std::span<EvStatus> evs) const;
  // An application has seen an EV fail or recover. Does not lift a denial. Whether the profile's
  // event mask asks for it.
  bool report(EvProfileId id, const EvStatus& seen);

  // An application process uses it: ONLINE only. It stays ONLINE until it is released as often.
  Outcome use(EvProfileId id);
  void release(EvProfileId id);
  [[nodiscard]] std::size_t uses(EvProfileId id) const;

  [[nodiscard]] bool needs_format(FormatId format) const;  // of an ONLINE profile
  [[nodiscard]] std::size_t evs_free() const;

  // As it was saved: the same EVs in the same order. Refused if it no longer fits the device.
  Outcome restore(EvProfileId id, EvProfile saved);

 private:
  [[nodiscard]] Outcome check_change(EvProfileId id, const EvProfile& profile,
                                     const EvProfileChange& change) const;
  // Makes the list of EVs anew after something changed that it depends on.
  Outcome shape(EvProfileId id, EvProfile& profile) const;
  Outcome shape_explicit(EvProfile& profile) const;
  Outcome shape_generated(EvProfileId id, EvProfile& profile) const;
  [[nodiscard]] Outcome check_room(EvProfileId id, std::size_t count) const;
  Outcome edit(EvProfile& profile, const EvEdit& edit, std::vector<EvStatus>& changed) const;
  Outcome edit_all(EvProfile& profile, const std::vector<EvEdit>& edits,
                   std::vector<EvStatus>& changed) const;
  [[nodiscard]] Outcome check_new_ev(const EvProfile& profile, const EvKey& ev) const;
  [[nodiscard]] Result<std::shared_ptr<const core::EvProfile>, Outcome> go_online(
      const EvProfile& profile) const;
  [[nodiscard]] EvProfileImage image_of(const EvProfile& profile) const;

  DeviceLimits limits_;
  const FormatStore* formats_;
  std::shared_ptr<const core::EvProfile> automatic_;
  std::map<EvProfileId, EvProfile> profiles_;
  std::map<EvProfileId, std::shared_ptr<const core::EvProfile>> online_;
  std::map<EvProfileId, std::size_t> uses_;
};

}  // namespace openmrc::libmrc
