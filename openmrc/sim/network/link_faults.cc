// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/network/link_faults.h"

#include <algorithm>

#include "openmrc/base/check.h"

namespace openmrc::sim {
namespace {

// The states that a set of overlapping faults gives: down wins, losses add up, the slowest and the
// smallest MTU count.
std::vector<LinkState> states_of(const std::vector<const LinkFault*>& faults) {
  std::vector<Picoseconds> times{Picoseconds(0)};
  for (const LinkFault* fault : faults) {
    times.push_back(fault->from);
    if (fault->to != kNoTime) times.push_back(fault->to);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());

  std::vector<LinkState> states;
  for (const Picoseconds time : times) {
    LinkState state{.from = time};
    for (const LinkFault* fault : faults) {
      if (time < fault->from || time >= fault->to) continue;
      state.up = state.up && !fault->down;
      state.loss_per_billion =
          std::min(state.loss_per_billion + fault->loss_per_billion, 1'000'000'000u);
      state.speed_percent = std::min(state.speed_percent, fault->speed_percent);
      state.mtu = std::min(state.mtu, fault->mtu);
    }
    states.push_back(state);
  }
  return states;
}

bool hits(const LinkFault& fault, bool upward) {
  return fault.direction == Direction::kBoth || (fault.direction == Direction::kUpward) == upward;
}

}  // namespace

LinkFaults::LinkFaults(std::span<const LinkFault> faults) {
  std::vector<const LinkFault*> sorted;
  for (const LinkFault& fault : faults) {
    OPENMRC_CHECK(fault.speed_percent > 0, "a link that stands still is down");
    speed_percent_min_ = std::min(speed_percent_min_, fault.speed_percent);
    sorted.push_back(&fault);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const LinkFault* a, const LinkFault* b) { return a->link < b->link; });
  for (auto begin = sorted.begin(); begin != sorted.end();) {
    const auto end = std::find_if(
        begin, sorted.end(), [&](const LinkFault* fault) { return fault->link != (*begin)->link; });
    for (const bool upward : {false, true}) {
      std::vector<const LinkFault*> of_direction;
      std::copy_if(begin, end, std::back_inserter(of_direction),
                   [&](const LinkFault* fault) { return hits(*fault, upward); });
      if (of_direction.empty()) continue;
      timelines_.push_back(
          {.link = (*begin)->link, .upward = upward, .states = states_of(of_direction)});
    }
    begin = end;
  }
}

LinkFaults::Index LinkFaults::find(const fabric::LinkId& link, bool upward) const {
  const Timeline wanted{.link = link, .upward = upward, .states = {}};
  const auto at = std::lower_bound(timelines_.begin(), timelines_.end(), wanted,
                                   [](const Timeline& a, const Timeline& b) { return a < b; });
  if (at == timelines_.end() || (*at <=> wanted) != 0) return kNone;
  return static_cast<Index>(at - timelines_.begin());
}

const LinkState& LinkFaults::state(Index index, Picoseconds when) const {
  const std::vector<LinkState>& states = timelines_[index].states;
  const auto after =
      std::upper_bound(states.begin(), states.end(), when,
                       [](Picoseconds time, const LinkState& state) { return time < state.from; });
  return *(after - 1);
}

bool LinkFaults::stays_up(Index index, Picoseconds from, Picoseconds to) const {
  const std::vector<LinkState>& states = timelines_[index].states;
  for (const LinkState* state = &this->state(index, from);
       state != states.data() + states.size() && state->from <= to; ++state) {
    if (!state->up) return false;
  }
  return true;
}

}  // namespace openmrc::sim
