// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/text/file_error.h"

// What a fabric is bought from, as a file has it (examples/fabrics/parts.toml).
namespace openmrc::fabric {

struct SwitchPart {
  double tbps = 0;
  double watts = 0;  // without transceivers
  double price = 0;
};

struct CablePart {
  std::string name{};
  bool optical = false;
  double gbps = 0;
  double reach_m = 0;
  double watts = 0;      // each end
  double end_price = 0;  // each end: a transceiver
  double price = 0;      // what is between them
};

// Where things stand, see FloorPlan.
struct FloorRules {
  std::uint32_t hosts_per_cabinet = 1;
  std::uint32_t switches_per_cabinet = 1;
  std::uint32_t racks_per_line = 1;
  double cabinet_m = 0;     // from one cabinet to the next
  double line_m = 0;        // from one line of cabinets to the next
  double in_cabinet_m = 0;  // a cable within a cabinet
  double to_tray_m = 0;     // from a port to the tray above, at each end of any other cable
};

struct Parts {
  std::string currency{};
  std::string prices_from{};  // what readers of a price are told
  SwitchPart switch_part{};
  std::vector<CablePart> cables{};  // the first that is long enough is taken; one is optical
  FloorRules floor{};

  // What everything is connected by where lengths are not known: the first optical one.
  [[nodiscard]] const CablePart& optics() const;
};

// Everything that is wrong with the file is reported. All keys are required.
Result<Parts, std::vector<text::FileError>> parse_parts_toml(std::string_view text);

}  // namespace openmrc::fabric
