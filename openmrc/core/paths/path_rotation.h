// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "openmrc/base/ids.h"
#include "openmrc/base/rng.h"
#include "openmrc/core/containers/prefetch_memory.h"
#include "openmrc/core/paths/ev_profile.h"

namespace openmrc::core {

// Small and quick (a linear congruence, its upper half); only the order of paths depends on it.
class PathRandom {
 public:
  explicit PathRandom(std::uint64_t seed) : state_(seed) {}
  std::uint32_t below(std::uint32_t bound) {
    state_ = state_ * 6364136223846793005 + 1442695040888963407;
    return static_cast<std::uint32_t>((state_ >> 32) * bound >> 32);
  }
  // Another one, whose numbers have nothing to do with these.
  PathRandom split() {
    below(1);
    std::uint64_t seed = state_;
    return PathRandom(split_mix(seed));
  }

 private:
  std::uint64_t state_;
};

// The paths of each plane that carry data, and whose turn it is: each once in a pass.
class PathRotation {
 public:
  // Before anything else; allocates.
  void start(const EvProfile& profile);

  void add(Plane plane, PathIndex path);
  void remove(Plane plane, PathIndex path);
  [[nodiscard]] unsigned size(Plane plane) const { return passes_[plane.raw()].size; }

  void prefetch(const EvProfile& profile) const {
    prefetch_memory(passes_.get(), profile.planes() * sizeof(Pass));
    prefetch_memory(order_.get(), profile.path_count() * sizeof(PathIndex));
  }

  // The next path of the plane, which has one: in the order in which they were added.
  PathIndex next_in_order(Plane plane) { return *take_turn(passes_[plane.raw()]); }
  // Of those that have not had their turn in this pass, each equally likely.
  PathIndex next_at_random(Plane plane, PathRandom& random) {
    Pass& pass = passes_[plane.raw()];
    PathIndex* const next = take_turn(pass);
    const auto left = static_cast<std::uint32_t>(pass.size - pass.cursor);
    PathIndex& drawn = next[random.below(left + 1)];
    const PathIndex path = drawn;
    drawn = *next;
    return *next = path;
  }

 private:
  struct Pass {
    std::uint16_t first = 0;   // where the plane's paths begin in the order
    std::uint16_t size = 0;    // how many there are
    std::uint16_t cursor = 0;  // those before it have had their turn
  };
  PathIndex* take_turn(Pass& pass) {
    if (pass.cursor >= pass.size) pass.cursor = 0;
    return &order_[std::size_t{pass.first} + pass.cursor++];
  }

  std::unique_ptr<Pass[]> passes_;      // by plane
  std::unique_ptr<PathIndex[]> order_;  // plane by plane
};

}  // namespace openmrc::core
