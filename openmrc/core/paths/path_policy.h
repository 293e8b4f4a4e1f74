// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <variant>

#include "openmrc/base/ids.h"
#include "openmrc/core/paths/round_robin.h"
#include "openmrc/core/paths/spray.h"

namespace openmrc::core {

// How the path of the next packet is chosen among those of its plane. A new one is a file of its
// own, with the methods of RoundRobin, and a line here and below.
enum class PathPolicy : std::uint8_t {
  kSpray,
  kRoundRobin,
};

// The policy of one peer, and the paths that it may choose from.
class PathChooser {
 public:
  explicit PathChooser(PathPolicy policy) : policy_(make(policy)) {}

  // Calls `tell` with the policy as what it is.
  template <class Tell>
  void tell(Tell tell) {
    std::visit(tell, policy_);
  }

  // Before anything else; allocates. The profile must outlive this.
  void start(const EvProfile& profile, PathRandom random) {
    tell([&](auto& policy) { policy.start(profile, random); });
  }

  void add(Plane plane, PathIndex path) {
    tell([&](auto& policy) { policy.add(plane, path); });
  }
  void remove(Plane plane, PathIndex path) {
    tell([&](auto& policy) { policy.remove(plane, path); });
  }
  [[nodiscard]] unsigned size(Plane plane) const {
    return std::visit([&](const auto& policy) { return policy.size(plane); }, policy_);
  }
  // The plane has a path.
  [[nodiscard]] PathIndex choose(Plane plane) {
    return std::visit([&](auto& policy) { return policy.choose(plane); }, policy_);
  }
  // If the plane has another path than `avoid`, that.
  [[nodiscard]] PathIndex choose_avoiding(Plane plane, PathIndex avoid) {
    return std::visit([&](auto& policy) { return policy.choose_avoiding(plane, avoid); }, policy_);
  }
  void on_congestion(const PathCongestion& congestion) {
    tell([&](auto& policy) { policy.on_congestion(congestion); });
  }
  void on_clean(PathIndex path, Plane plane) {
    tell([&](auto& policy) { policy.on_clean(path, plane); });
  }
  [[nodiscard]] bool skips(PathIndex path) const {
    return std::visit([&](const auto& policy) { return policy.skips(path); }, policy_);
  }

  void prefetch(const EvProfile& profile) const {
    std::visit([&](const auto& policy) { policy.prefetch(profile); }, policy_);
  }

 private:
  using Policy = std::variant<Spray, RoundRobin>;
  static Policy make(PathPolicy policy) {
    if (policy == PathPolicy::kRoundRobin) return RoundRobin();
    return Spray();
  }

  Policy policy_;
};

}  // namespace openmrc::core
