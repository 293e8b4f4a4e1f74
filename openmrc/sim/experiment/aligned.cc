// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/experiment/aligned.h"

#include <fmt/format.h>

#include <algorithm>

namespace openmrc::sim {

std::string aligned(const std::vector<Row>& rows, std::size_t at_left) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += i == 0 ? "" : "  ";
      line += i < at_left ? fmt::format("{:<{}}", row[i], widths[i])
                          : fmt::format("{:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace openmrc::sim
