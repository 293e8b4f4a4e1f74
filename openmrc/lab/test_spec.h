// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/lab/spec.h"

namespace openmrc::lab {

// Two planes, two T0s and one T1 in each, and usually one host below each T0.
inline Spec small_lab(std::uint32_t hosts_of_a_t0 = 1) {
  Spec spec;
  spec.name = "try";
  spec.shape.planes = 2;
  spec.shape.racks = 2;
  spec.shape.hosts_per_rack = hosts_of_a_t0;
  spec.shape.uplinks = 1;
  return spec;
}

}  // namespace openmrc::lab
