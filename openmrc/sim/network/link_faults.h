// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "openmrc/base/picoseconds.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/scenario/faults.h"

namespace openmrc::sim {

// All link faults of a run, ready to be asked: what is this direction of that link at this time.
// It does not change during a run, so every thread may ask. Whole links have no entry, and their
// ports do not ask.
class LinkFaults {
 public:
  using Index = std::uint32_t;  // of a faulty direction of a link
  static constexpr Index kNone = 0xffffffff;

  LinkFaults() = default;
  explicit LinkFaults(std::span<const LinkFault> faults);

  // `upward`: away from the host.
  [[nodiscard]] Index find(const fabric::LinkId& link, bool upward) const;

  // The state at `when`.
  [[nodiscard]] const LinkState& state(Index index, Picoseconds when) const;
  // Whether it is up all the time from `from` to `to`.
  [[nodiscard]] bool stays_up(Index index, Picoseconds from, Picoseconds to) const;

  // When the states of one direction change, the first at time 0.
  [[nodiscard]] std::span<const LinkState> timeline(Index index) const {
    return timelines_[index].states;
  }
  [[nodiscard]] std::uint16_t speed_percent_min() const { return speed_percent_min_; }

 private:
  struct Timeline {
    fabric::LinkId link{};
    bool upward = false;
    std::vector<LinkState> states;

    auto operator<=>(const Timeline& other) const {
      if (const auto order = link <=> other.link; order != 0) return order;
      return upward <=> other.upward;
    }
  };
  std::vector<Timeline> timelines_;  // sorted
  std::uint16_t speed_percent_min_ = 100;
};

}  // namespace openmrc::sim
