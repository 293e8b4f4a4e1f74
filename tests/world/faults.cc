// SPDX-License-Identifier: BSD-3-Clause
#include "tests/world/faults.h"

#include <fmt/format.h>

namespace openmrc::test {

std::string_view name(FaultKind kind) {
  constexpr std::array<std::string_view, kFaultKindCount> kNames{"loss",
                                                                 "burst loss",
                                                                 "reorder",
                                                                 "duplicate",
                                                                 "corrupt",
                                                                 "trim",
                                                                 "trim at the last hop",
                                                                 "mark",
                                                                 "black hole",
                                                                 "slow path",
                                                                 "port down",
                                                                 "pause",
                                                                 "restart",
                                                                 "deny",
                                                                 "unwelcome",
                                                                 "shrink MPR",
                                                                 "penalty",
                                                                 "forge",
                                                                 "on the path"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string to_string(const Fault& fault) {
  std::string text = fmt::format("{:<20}", name(fault.kind));
  if (fault.side) text += fault.side == Side::kA ? " A" : " B";
  if (fault.plane) text += fmt::format(" plane {}", fault.plane->raw());
  if (fault.ev) text += fmt::format(" EV {}", fault.ev->raw());
  if (is_by_chance(fault.kind)) {
    text += fmt::format(" {} of {}", fault.chance.numerator, fault.chance.denominator);
  }
  if (fault.amount != 0) text += fmt::format(" amount {}", fault.amount);
  text += fmt::format(" from {} us", fault.from.raw() / 1000);
  if (fault.to.raw() != std::numeric_limits<std::int64_t>::max()) {
    text += fmt::format(" to {} us", fault.to.raw() / 1000);
  }
  return text;
}

}  // namespace openmrc::test
