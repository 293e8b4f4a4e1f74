// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/fabric/fabric.h"
#include "openmrc/sim/scenario/scenario_faults.h"

// In which states a fabric is whose parts fail and are repaired: how many of each kind are down,
// and for which share of the time.
namespace openmrc::sim {

// All parts of one kind. They fail independently of each other.
struct UnreliableParts {
  ElementGroup group = ElementGroup::kUplinks;
  std::uint64_t count = 0;
  double mtbf_hours = 0;  // from a repair to the next failure
  double mttr_hours = 0;

  // Share of the time that one is down.
  [[nodiscard]] double unavailability() const { return mttr_hours / (mtbf_hours + mttr_hours); }
  // Of all together.
  [[nodiscard]] double failures_per_hour() const {
    return static_cast<double>(count) / (mtbf_hours + mttr_hours);
  }
};

// "uplinks"
std::string_view name_of(const UnreliableParts& parts);

struct FabricState {
  std::vector<std::uint64_t> down{};  // of each kind
  double probability = 0;
};

// Of `count` parts exactly `down` are down (binomial distribution).
double probability_down(std::uint64_t count, std::uint64_t down, double unavailability);

// The most probable states first, until they have `mass` of the probability together or are
// `states_max`.
std::vector<FabricState> probable_states(const std::vector<UnreliableParts>& parts, double mass,
                                         std::size_t states_max);

// The setting (text/toml_setting.h) that takes so many parts of each kind down, which ones by the
// seed, for the whole run.
std::string state_setting(const std::vector<UnreliableParts>& parts, const FabricState& state);

}  // namespace openmrc::sim
