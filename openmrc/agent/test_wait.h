// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <thread>

namespace openmrc::libmrc {

// Whether it comes true within ten seconds: other threads and processes take their time.
template <class Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace openmrc::libmrc
