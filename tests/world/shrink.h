// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

namespace openmrc::test {

// Tries the options of a world without each element of a list, one by one; keeps what still fails.
// Returns whether the list became shorter.
template <class Options, class ListOf>
bool drop_elements(Options& options, ListOf list_of) {
  bool smaller = false;
  for (std::size_t i = 0; i < list_of(options).size();) {
    Options without = options;
    list_of(without).erase(list_of(without).begin() + static_cast<std::ptrdiff_t>(i));
    if (run_world(without).violation) {
      options = std::move(without);
      smaller = true;
    } else {
      ++i;
    }
  }
  return smaller;
}

}  // namespace openmrc::test
