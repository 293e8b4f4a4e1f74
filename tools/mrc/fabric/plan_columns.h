// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "openmrc/fabric/plan.h"

namespace openmrc::tools {

// The fabric first, then what it is compared with.
inline std::vector<const fabric::Design*> columns_of(const fabric::Plan& plan) {
  std::vector<const fabric::Design*> columns{&plan.fabric};
  if (plan.three_tiers) columns.push_back(&*plan.three_tiers);
  if (plan.same_hosts) columns.push_back(&*plan.same_hosts);
  return columns;
}

// Aligned: what it is to the left, figures of each design to the right.
class PlanTable {
 public:
  explicit PlanTable(const fabric::Plan& plan) : columns_(columns_of(plan)) {}

  void heading(std::string_view text) { text_ += fmt::format("\n{}\n", text); }

  template <class Cell>  // Design to string
  void row(std::string_view what, const Cell& cell) {
    std::string line = fmt::format("{:<38}", what);
    for (const fabric::Design* column : columns_) line += fmt::format("{:>16}", cell(*column));
    text_ += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }

  void titles(const std::array<std::string_view, 3>& titles) {
    std::size_t at = 0;
    row("", [&](const fabric::Design&) { return titles[at++]; });
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::vector<const fabric::Design*> columns_;
  std::string text_{};
};

}  // namespace openmrc::tools
