// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/fault_fields.h"

#include "openmrc/text/units.h"

namespace openmrc::sim {

std::uint16_t read_speed(text::TableReader& section) {
  constexpr std::uint32_t kPercent = text::kShareOne / 100;
  std::uint32_t speed = text::kShareOne;
  section.require("speed");
  const text::Value* value = section.find("speed");
  if (value == nullptr || !section.read_value(text::Field::share("speed", speed), *value)) return 0;
  if (speed % kPercent != 0 || speed < kPercent || speed >= text::kShareOne) {
    section.error("speed", "must be a whole percentage from 1% to 99%");
  }
  return static_cast<std::uint16_t>(speed / kPercent);
}

}  // namespace openmrc::sim
