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
#include "openmrc/core/paths/return_routes.h"
#include "openmrc/fabric/path.h"
#include "openmrc/fabric/usid_plan.h"
#include "openmrc/profile/drawn_paths.h"
#include "openmrc/wire/field/ip_version.h"

namespace openmrc::profile {

// The paths of one host's connections and what people call them. In a fabric an EV names the
// switches of a path; without one it is a random number, and switches choose by its hash.
class PathPlan {
 public:
  static Result<PathPlan, core::EvProfileError> in_fabric(const fabric::UsidPlan& plan,
                                                          fabric::HostIndex own,
                                                          const PathOptions& options);
  // With paths that were drawn before; hosts may share them.
  PathPlan(const fabric::UsidPlan& plan, fabric::HostIndex own, DrawnPaths drawn);
  static PathPlan hashed(std::size_t planes, const PathOptions& options, wire::IpVersion version);

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
  // For answers to hosts that are no peers; null without a fabric.
  [[nodiscard]] std::shared_ptr<const core::ReturnRoutes> return_routes() const;

  [[nodiscard]] const std::optional<fabric::UsidPlan>& plan() const { return plan_; }
  [[nodiscard]] std::optional<fabric::HostIndex> own() const { return own_; }

 private:
  PathPlan() = default;

  std::optional<fabric::UsidPlan> plan_;
  std::optional<fabric::HostIndex> own_;
  // Without a fabric one; with one the first leads to other racks, the second to the host's own.
  std::vector<std::shared_ptr<const core::EvProfile>> profiles_;
  std::vector<std::uint16_t> numbers_;  // of the first, by EV: fabric::PathChoice::path
};

}  // namespace openmrc::profile
