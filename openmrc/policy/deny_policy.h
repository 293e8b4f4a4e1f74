// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/agent/profiles/profile_store.h"
#include "openmrc/base/result.h"
#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/mapper/report.h"

namespace openmrc::policy {

// Denies the EVs whose packets cross a bad link of this host or its rack, in all profiles that are
// ONLINE, and lifts that when the link is good again. Never more than half of the EVs that a
// profile has in a plane are denied, by it and the controller together: whatever the mapper says,
// no plane is lost by mistake. What a controller has denied stays denied; what it has set back to
// good in the meantime is left alone until the link has healed. Performs no I/O; one thread owns
// it.
class DenyPolicy {
 public:
  struct Change {
    libmrc::EvProfileId profile{};
    std::vector<libmrc::EvEdit> edits{};
  };
  using Denials = std::map<libmrc::EvProfileId, std::set<libmrc::EvKey>>;

  // What has to change now; it is counted as done.
  std::vector<Change> decide(const libmrc::EvProfileStore& profiles,
                             std::span<const mapper::BadLink> bad);

  [[nodiscard]] const Denials& denials() const { return denials_; }

  // What the other has denied counts as denied by this one, too.
  void add(const DenyPolicy& other);

  // For a file. Any text may be given.
  [[nodiscard]] std::string to_json() const;
  static Result<DenyPolicy, std::string> parse(std::string_view text);

  bool operator==(const DenyPolicy&) const = default;

 private:
  Denials denials_{};
};

// The EVs of the profile to be denied because of these links, worst first, within the limit.
// `own` are those that a controller has not denied although they are.
std::set<libmrc::EvKey> evs_to_deny(const libmrc::EvProfile& profile, const core::EvProfile& paths,
                                    std::span<const mapper::BadLink> bad,
                                    const std::set<libmrc::EvKey>& own);

}  // namespace openmrc::policy
