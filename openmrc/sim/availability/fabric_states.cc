// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/availability/fabric_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <queue>
#include <set>
#include <utility>

#include "openmrc/sim/scenario/fault_fields.h"

namespace openmrc::sim {
namespace {

// What is less probable is looked at by nobody.
constexpr double kNegligible = 1e-15;

struct CountDown {
  std::uint64_t down = 0;
  double probability = 0;
};

// The most probable number first.
std::vector<CountDown> counts_of(const UnreliableParts& parts, std::size_t most) {
  const double unavailability = parts.unavailability();
  const auto mode =
      static_cast<std::uint64_t>(std::floor(static_cast<double>(parts.count + 1) * unavailability));
  const auto at = [&](std::uint64_t down) {
    return CountDown{down, probability_down(parts.count, down, unavailability)};
  };
  std::vector<CountDown> counts{at(std::min(mode, parts.count))};
  std::uint64_t below = counts[0].down;  // from here on downward none is taken yet
  std::uint64_t above = counts[0].down + 1;
  while (counts.size() < most && (below > 0 || above <= parts.count)) {
    const CountDown lower = below > 0 ? at(below - 1) : CountDown{};
    const CountDown upper = above <= parts.count ? at(above) : CountDown{};
    const bool take_lower = below > 0 && lower.probability >= upper.probability;
    counts.push_back(take_lower ? lower : upper);
    if (counts.back().probability < kNegligible) break;
    take_lower ? --below : ++above;
  }
  return counts;
}

using Places = std::vector<std::size_t>;  // in the list of each kind

class States {
 public:
  States(const std::vector<UnreliableParts>& parts, std::size_t states_max) {
    for (const UnreliableParts& one : parts) lists_.push_back(counts_of(one, states_max));
    push(Places(parts.size()));
  }

  [[nodiscard]] bool empty() const { return queue_.empty(); }

  FabricState pop() {
    const auto [probability, places] = queue_.top();
    queue_.pop();
    FabricState state{.probability = probability};
    for (std::size_t i = 0; i < places.size(); ++i) {
      state.down.push_back(lists_[i][places[i]].down);
      Places next = places;
      if (++next[i] < lists_[i].size()) push(std::move(next));
    }
    return state;
  }

 private:
  void push(Places places) {
    if (!seen_.insert(places).second) return;
    double probability = 1;
    for (std::size_t i = 0; i < places.size(); ++i) probability *= lists_[i][places[i]].probability;
    queue_.emplace(probability, std::move(places));
  }

  std::vector<std::vector<CountDown>> lists_{};
  std::priority_queue<std::pair<double, Places>> queue_{};
  std::set<Places> seen_{};
};

}  // namespace

std::string_view name_of(const UnreliableParts& parts) {
  return kGroupWords[static_cast<std::size_t>(parts.group)];
}

double probability_down(std::uint64_t count, std::uint64_t down, double unavailability) {
  if (unavailability <= 0) return down == 0 ? 1 : 0;
  if (unavailability >= 1) return down == count ? 1 : 0;
  const auto n = static_cast<double>(count);
  const auto k = static_cast<double>(down);
  const double ways = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1);
  return std::exp(ways + k * std::log(unavailability) + (n - k) * std::log1p(-unavailability));
}

std::vector<FabricState> probable_states(const std::vector<UnreliableParts>& parts, double mass,
                                         std::size_t states_max) {
  std::vector<FabricState> states;
  States all(parts, states_max);
  double sum = 0;
  while (!all.empty() && states.size() < states_max && sum < mass) {
    states.push_back(all.pop());
    sum += states.back().probability;
  }
  return states;
}

std::string state_setting(const std::vector<UnreliableParts>& parts, const FabricState& state) {
  std::string faults;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (state.down[i] == 0) continue;
    faults += fmt::format("{}{{ kind = \"cut\", of = \"{}\", random = {} }}",
                          faults.empty() ? "" : ", ", name_of(parts[i]), state.down[i]);
  }
  return "fault=[" + faults + "]";
}

}  // namespace openmrc::sim
