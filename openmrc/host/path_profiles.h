// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/base/result.h"
#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/fabric/usid_plan.h"
#include "openmrc/host/config.h"
#include "openmrc/host/error.h"

namespace openmrc::host {

// The paths of a host's connections, made from its configuration, and what people call them.
class PathProfiles {
 public:
  static Result<PathProfiles, Error> make(const Config& config);

  // Which of profiles() serves connections to this host; nothing means: no place in a fabric.
  [[nodiscard]] std::size_t profile_to(std::optional<fabric::HostIndex> remote) const;
  [[nodiscard]] const std::vector<std::shared_ptr<const core::EvProfile>>& profiles() const {
    return profiles_;
  }
  // MRC 9.3.5: what the two ends add to every path between them; zero without a fabric.
  [[nodiscard]] wire::Ipv6Address overlay(std::optional<fabric::HostIndex> remote) const;

  // "p1.t0-0 > p1.t1-1 > p1.t0-1", or the EV's bits where switches choose the path themselves.
  [[nodiscard]] std::string path_name(core::EvIndex ev,
                                      std::optional<fabric::HostIndex> remote) const;
  [[nodiscard]] fabric::PathChoice choice(core::EvIndex ev,
                                          std::optional<fabric::HostIndex> remote) const;
  [[nodiscard]] const std::optional<fabric::UsidPlan>& plan() const { return plan_; }
  [[nodiscard]] std::optional<fabric::HostIndex> own() const { return own_; }

 private:
  PathProfiles() = default;

  std::optional<fabric::UsidPlan> plan_;
  std::optional<fabric::HostIndex> own_;
  // Without a fabric one; with one the first leads to other racks, the second to the host's own.
  std::vector<std::shared_ptr<const core::EvProfile>> profiles_;
  std::vector<std::uint16_t> uplinks_;  // of the first, by EV
};

}  // namespace openmrc::host
