// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/search/shrinker.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <utility>

#include "openmrc/base/check.h"

namespace openmrc::sim {
namespace {

constexpr std::array<Picoseconds, 2> kRoundTimes{Picoseconds(10'000'000), Picoseconds(1'000'000)};

std::int64_t digits_of(Picoseconds time) {
  std::int64_t digits = 0;
  for (std::int64_t rest = time.raw() / kScheduleStep.raw(); rest != 0; rest /= 10) {
    if (digits > 0 || rest % 10 != 0) ++digits;
  }
  return digits;
}

// What is to be less: faults, then the time that they take, then digits.
std::tuple<std::size_t, std::int64_t, std::int64_t> complexity(const Schedule& schedule) {
  std::int64_t time = 0;
  std::int64_t digits = 0;
  for (const SearchedFault& fault : schedule) {
    time += fault.length.raw();
    digits += digits_of(fault.at) + digits_of(fault.length);
  }
  return {schedule.size(), time, digits};
}

}  // namespace

Shrinker::Shrinker(SearchSpace space, Tried found, double harm_min)
    : space_(std::move(space)), simplest_(std::move(found)), harm_min_(harm_min) {}

void Shrinker::add(const Schedule& schedule) {
  if (!schedule.empty() && complexity(schedule) < complexity(simplest_.schedule)) {
    asked_.push_back(schedule);
  }
}

const std::vector<Schedule>& Shrinker::ask() {
  asked_.clear();
  if (done_) return asked_;
  const Schedule& now = simplest_.schedule;
  for (std::size_t i = 0; i < now.size(); ++i) {
    Schedule without = now;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    add(without);
    const auto with = [&](Picoseconds at, Picoseconds length) {
      Schedule changed = now;
      changed[i].at = at;
      changed[i].length = length;
      changed[i] = fitted(changed[i], space_);
      add(in_order(std::move(changed)));
    };
    const Picoseconds half = now[i].length / 2;
    with(now[i].at, half);
    with(now[i].at + half, now[i].length - half);
    const Picoseconds eighth = now[i].length / 8;
    with(now[i].at, now[i].length - eighth);
    with(now[i].at + eighth, now[i].length - eighth);
    for (const Picoseconds round : kRoundTimes) {
      with(now[i].at / round.raw() * round.raw(), now[i].length);
      with(now[i].at, now[i].length / round.raw() * round.raw());
    }
  }
  return asked_;
}

void Shrinker::tell(std::span<const double> harms) {
  OPENMRC_CHECK(harms.size() == asked_.size(), "each that was asked for has its harm");
  const Tried before = simplest_;
  for (std::size_t i = 0; i < harms.size(); ++i) {
    if (harms[i] >= harm_min_ && complexity(asked_[i]) < complexity(simplest_.schedule)) {
      simplest_ = {.schedule = asked_[i], .harm = harms[i]};
    }
  }
  done_ = simplest_ == before;
}

}  // namespace openmrc::sim
