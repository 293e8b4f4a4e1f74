// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "openmrc/sim/result/result.h"

namespace openmrc::sim {

// A line of a table for people: what, how much, and a remark.
struct TableRow {
  std::string name{};
  std::string value{};
  std::string remark{};

  bool operator==(const TableRow&) const = default;
};

// Everything that a result says in numbers; the page of html_report has the same rows.
std::vector<TableRow> table_rows(const RunResult& result);

// What a person sees when a run has ended: plain text with aligned columns.
std::string result_table(const RunResult& result);

}  // namespace openmrc::sim
