// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/search/evolution.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "openmrc/base/check.h"

namespace openmrc::sim {
namespace {

constexpr Ratio kCrossed{1, 3};  // of the children; all are changed
// So many generations without a worse schedule: it begins anew.
constexpr std::size_t kPatience = 25;
constexpr std::size_t kTournament = 3;  // of so many drawn ones the worst is a parent

}  // namespace

Evolution::Evolution(SearchSpace space, const EvolutionSettings& settings)
    : space_(std::move(space)), settings_(settings), rng_(settings.seed) {
  OPENMRC_CHECK(settings.random > 0 && settings.parents > 0 && settings.children > 0,
                "there is nothing to try");
}

const std::vector<Schedule>& Evolution::ask() {
  asked_.clear();
  if (tried_ == 0) {
    for (std::size_t i = 0; i < settings_.random; ++i) {
      asked_.push_back(random_schedule(space_, rng_));
    }
  } else if (without_progress_ >= kPatience) {
    without_progress_ = 0;
    parents_.clear();
    for (std::size_t i = 0; i < settings_.parents + settings_.children; ++i) {
      asked_.push_back(random_schedule(space_, rng_));
    }
  } else {
    make_children();
  }
  return asked_;
}

void Evolution::tell(std::span<const double> harms) {
  OPENMRC_CHECK(harms.size() == asked_.size(), "each that was asked for has its harm");
  if (tried_ == 0) {
    random_harms_.assign(harms.begin(), harms.end());
    worst_ = {.schedule = asked_[0], .harm = harms[0]};
  }
  tried_ += harms.size();
  const double before =
      parents_.empty() ? -std::numeric_limits<double>::infinity() : parents_[0].harm;
  std::vector<Tried> candidates;
  candidates.reserve(harms.size() + parents_.size());
  for (std::size_t i = 0; i < harms.size(); ++i) {
    candidates.push_back({.schedule = std::move(asked_[i]), .harm = harms[i]});
  }
  std::ranges::move(parents_, std::back_inserter(candidates));
  select(std::move(candidates));
  without_progress_ = parents_[0].harm > before ? 0 : without_progress_ + 1;
  if (parents_[0].harm > worst_.harm) worst_ = parents_[0];
}

const Schedule& Evolution::choose_parent() {
  std::uint64_t place = parents_.size() - 1;
  for (std::size_t i = 0; i < kTournament; ++i) {
    place = std::min(place, rng_.below(parents_.size()));
  }
  return parents_[place].schedule;
}

void Evolution::make_children() {
  for (std::size_t i = 0; i < settings_.children; ++i) {
    Schedule child = choose_parent();
    if (rng_.chance(kCrossed)) child = crossed(child, choose_parent(), space_, rng_);
    asked_.push_back(mutated(child, space_, rng_));
  }
}

// Of those that did the same one is enough, the youngest: so they wander while nothing gets worse.
void Evolution::select(std::vector<Tried> candidates) {
  std::ranges::stable_sort(candidates, std::ranges::greater{}, &Tried::harm);
  const auto rest = std::ranges::unique(candidates, {}, &Tried::harm);
  candidates.erase(rest.begin(), rest.end());
  candidates.resize(std::min(candidates.size(), settings_.parents));
  parents_ = std::move(candidates);
}

}  // namespace openmrc::sim
