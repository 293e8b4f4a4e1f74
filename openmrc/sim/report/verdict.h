// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/sim/result/result.h"

namespace openmrc::sim {

// A result in words, for a reader who knows nothing else of it. Only what follows from the data.
struct Verdict {
  std::string headline{};  // what came of it, and what the faults cost
  std::string detail{};    // how fast it was, and compared with the baseline
};

Verdict verdict_of(const RunResult& result, const RunResult* baseline);

}  // namespace openmrc::sim
