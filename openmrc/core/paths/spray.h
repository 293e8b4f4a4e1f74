// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/core/paths/path_rotation.h"
#include "openmrc/core/paths/path_signals.h"

namespace openmrc::core {

// MRC 9.3.1, 11.2.2: all paths of a plane in turn, in an order that is drawn anew for each pass;
// congested ones are passed over. How often depends on what is congested:
//  - Each mark passes over the path once, each trim four times, up to kSkipMax; that is enough
//    where load is uneven for a moment.
//  - A path that is marked window after window while most others of its plane are not is slow for
//    good. Its level doubles once in a round trip, up to kLevelMax, and is the least number of
//    turns it misses. Feedback without a mark halves the level.
// Were levels to rise when many paths are marked, senders would chase each other from path to path.
// PATH-29, PATH-32
class Spray {
 public:
  // Before anything else; allocates. The profile must outlive this.
  void start(const EvProfile& profile, PathRandom random) {
    profile_ = &profile;
    random_ = random;
    rotation_.start(profile);
  }

  void add(Plane plane, PathIndex path) { rotation_.add(plane, path); }
  void remove(Plane plane, PathIndex path);
  [[nodiscard]] unsigned size(Plane plane) const { return rotation_.size(plane); }

  [[nodiscard]] PathIndex choose(Plane plane) {
    const PathIndex path = rotation_.next_at_random(plane, random_);
    if (!skips(path)) [[likely]]
      return path;
    return choose_further(plane, path, kNothing);
  }
  // `avoid` is chosen only if there is no other.
  [[nodiscard]] PathIndex choose_avoiding(Plane plane, PathIndex avoid) {
    return choose_further(plane, rotation_.next_at_random(plane, random_), avoid.raw());
  }

  void on_congestion(const PathCongestion& congestion);
  // A packet that took it came through without a mark.
  void on_clean(PathIndex path, Plane plane) {
    if (marks_ && marks_[path.raw()].level > 0) [[unlikely]]
      lower_level(path, plane);
  }
  // Whether its next turn will be skipped.
  [[nodiscard]] bool skips(PathIndex path) const { return marks_ && marks_[path.raw()].skip > 0; }

  void prefetch(const EvProfile& profile) const { rotation_.prefetch(profile); }

  static constexpr unsigned kSkipMax = 15;
  static constexpr unsigned kSkipPerTrim = 4;
  static constexpr unsigned kLevelMax = 64;
  // Levels double while at most one in so many of a plane's other paths has one.
  static constexpr unsigned kFewOf = 4;

 private:
  struct Mark {
    std::uint32_t raised = 0;  // when its level was raised last, in ticks
    std::uint8_t skip = 0;     // turns still to be skipped
    std::uint8_t level = 0;
  };
  // Ticks of 128 ns, 32 bits of them: they wrap after nine minutes.
  static std::uint32_t ticks(std::int64_t ns) { return static_cast<std::uint32_t>(ns >> 7); }

  static constexpr unsigned kNothing = 0x100;  // to be avoided: no path
  [[nodiscard]] PathIndex choose_further(Plane plane, PathIndex drawn, unsigned avoid);
  void raise_level(const PathCongestion& congestion, Mark& mark);
  void lower_level(PathIndex path, Plane plane);

  const EvProfile* profile_ = nullptr;
  PathRotation rotation_;
  PathRandom random_{0};
  std::unique_ptr<Mark[]> marks_;                // by path; allocated with the first mark
  std::unique_ptr<std::uint16_t[]> with_level_;  // by plane: how many paths have a level
};

}  // namespace openmrc::core
