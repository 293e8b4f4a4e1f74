// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/spray.h"

#include <algorithm>
#include <bitset>

namespace openmrc::core {

void Spray::remove(Plane plane, PathIndex path) {
  rotation_.remove(plane, path);
  if (!marks_) return;
  if (marks_[path.raw()].level > 0) --with_level_[plane.raw()];
  marks_[path.raw()] = {};  // whatever it was, it will have changed when it comes back
}

// The path that was drawn is to be skipped or avoided. Every path that is passed over has missed a
// turn, and is not taken for this packet even if that was the last it had to miss. Two passes meet
// each path; if all are to be skipped, the one with the fewest turns left is taken (PATH-34).
PathIndex Spray::choose_further(Plane plane, PathIndex drawn, unsigned avoid) {
  std::bitset<kEvsPerProfileMax> passed_over;
  PathIndex least = drawn;
  unsigned least_skip = kLevelMax;
  PathIndex path = drawn;
  for (unsigned tries = 2 * rotation_.size(plane); tries > 0; --tries) {
    if (path.raw() != avoid && !passed_over[path.raw()]) {
      if (!skips(path)) return path;
      passed_over.set(path.raw());
      const unsigned left = --marks_[path.raw()].skip;
      if (left < least_skip) {
        least = path;
        least_skip = left;
      }
    }
    path = rotation_.next_at_random(plane, random_);
  }
  return least;
}

void Spray::on_congestion(const PathCongestion& congestion) {
  if (!marks_) {
    marks_ = std::make_unique<Mark[]>(profile_->path_count());
    with_level_ = std::make_unique<std::uint16_t[]>(profile_->planes());
  }
  Mark& mark = marks_[congestion.path.raw()];
  // Marks of one window come together and say the same.
  const std::uint32_t since = ticks(congestion.now.ns()) - mark.raised;
  if (mark.level == 0 || since >= ticks(congestion.rtt.raw())) raise_level(congestion, mark);
  const unsigned more = mark.skip + (congestion.trimmed ? kSkipPerTrim : 1);
  mark.skip = static_cast<std::uint8_t>(
      std::max({std::min(more, kSkipMax), unsigned{mark.level}, unsigned{mark.skip}}));
}

// PATH-33
void Spray::raise_level(const PathCongestion& congestion, Mark& mark) {
  std::uint16_t& with_level = with_level_[congestion.plane.raw()];
  if (mark.level == 0) ++with_level;
  const unsigned others = with_level - 1u;
  const bool stands_out = others * kFewOf <= rotation_.size(congestion.plane) - 1;
  const unsigned level = mark.level == 0 || !stands_out ? 1 : std::min(mark.level * 2u, kLevelMax);
  mark.level = static_cast<std::uint8_t>(level);
  mark.raised = ticks(congestion.now.ns());
}

void Spray::lower_level(PathIndex path, Plane plane) {
  Mark& mark = marks_[path.raw()];
  mark.level /= 2;
  if (mark.level == 0) --with_level_[plane.raw()];
}

}  // namespace openmrc::core
