// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "openmrc/base/ids.h"
#include "openmrc/datapath/datapath.h"

namespace openmrc::datapath {

// What happens to outgoing packets, by chance, from 0 to 1. The same seed and packets give
// the same faults.
struct FaultSettings {
  double drop = 0;
  double duplicate = 0;
  double corrupt = 0;            // arrives with a wrong ICRC
  std::optional<Plane> plane{};  // only there
  std::optional<Ev> ev{};        // only on this path
  std::uint64_t seed = 1;
};

std::unique_ptr<Datapath> with_faults(std::unique_ptr<Datapath> inner,
                                      const FaultSettings& settings);

}  // namespace openmrc::datapath
