// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

namespace openmrc::test {

// Puts an item with a time `at` behind all that are not later: equal times keep their order.
template <class T>
void insert_by_time(std::vector<T>& timeline, T item) {
  const auto later = std::upper_bound(timeline.begin(), timeline.end(), item,
                                      [](const T& a, const T& b) { return a.at < b.at; });
  timeline.insert(later, item);
}

}  // namespace openmrc::test
