// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/random.h"

#include <sys/random.h>

#include "openmrc/base/check.h"

namespace openmrc::host {

std::uint64_t random_number() {
  std::uint64_t number = 0;
  const bool filled = getrandom(&number, sizeof number, 0) == sizeof number;
  OPENMRC_CHECK(filled, "the kernel gives random numbers");
  return number;
}

}  // namespace openmrc::host
