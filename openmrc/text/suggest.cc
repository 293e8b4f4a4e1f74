// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/text/suggest.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace openmrc::text {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::optional<std::size_t> nearest_word(std::string_view word,
                                        std::span<const std::string_view> known) {
  constexpr std::size_t kLongestWord = 64;  // bounds the work on hostile input
  if (word.size() > kLongestWord) return std::nullopt;
  std::optional<std::size_t> nearest;
  std::size_t limit = word.size() / 3 + 2;
  for (std::size_t i = 0; i < known.size(); ++i) {
    const std::size_t distance = edit_distance(word, known[i]);
    if (distance >= limit) continue;
    nearest = i;
    limit = distance;
  }
  return nearest;
}

}  // namespace openmrc::text
