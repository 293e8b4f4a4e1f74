// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace openmrc {

void check_failed(const char* file, int line, const char* condition, const char* reason) {
  std::fprintf(stderr, "%s:%d: check failed: %s: %s\n", file, line, condition, reason);
  std::abort();
}

}  // namespace openmrc
