// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapsim/summary.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

namespace openmrc::mapsim {
namespace {

using fabric::LinkId;
using mapper::Direction;

double seconds_of(Duration span) { return static_cast<double>(span.raw()) / 1e9; }

// The smallest that so many are not above.
double quantile(std::vector<double>& times, double part) {
  if (times.empty()) return 0;
  std::ranges::sort(times);
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(times.size())));
  return times[std::max<std::size_t>(rank, 1) - 1];
}

// A host cannot tell the directions of its own link.
bool is_right(const LinkFault& fault, Direction direction) {
  if (fault.link.kind == LinkId::Kind::kHost) return direction == Direction::kUnknown;
  return direction == fault.direction;
}

void count(LossRow& row, const LinkFault& fault, const Naming& naming) {
  ++row.named;
  row.by_rack += naming.by_rack ? 1U : 0U;
  if (!naming.is_named) return;
  if (is_right(fault, naming.direction)) {
    ++row.right_direction;
  } else if (naming.direction != Direction::kUnknown) {
    ++row.wrong_direction;
  }
}

}  // namespace

double Summary::precision() const {
  const double all = static_cast<double>(named) + static_cast<double>(false_names.size());
  return all == 0 ? 1 : named / all;
}

double Summary::recall() const { return faults == 0 ? 1 : static_cast<double>(named) / faults; }

Summary summarise(std::span<const LinkFault> faults, std::span<const RackResult> racks) {
  Summary summary{.faults = static_cast<std::uint32_t>(faults.size())};
  std::map<LinkId, Naming> named;
  for (const RackResult& each : racks) {
    named.insert(each.named.begin(), each.named.end());
    summary.false_names.insert(summary.false_names.end(), each.false_names.begin(),
                               each.false_names.end());
    summary.false_by_agents.insert(summary.false_by_agents.end(), each.false_by_agents.begin(),
                                   each.false_by_agents.end());
    summary.agents += each.agents;
    summary.rounds_judged += each.rounds_judged;
    summary.rounds_left_out += each.rounds_left_out;
    summary.probes_lost += each.probes_lost;
  }
  summary.named = static_cast<std::uint32_t>(named.size());

  using Key = std::pair<LinkId::Kind, double>;
  const auto order = [](const Key& a, const Key& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  };
  std::map<Key, std::pair<LossRow, std::vector<double>>, decltype(order)> rows(order);
  for (const LinkFault& fault : faults) {
    auto& [row, times] = rows[{fault.link.kind, fault.loss}];
    row.kind = fault.link.kind;
    row.loss = fault.loss;
    ++row.faults;
    const auto found = named.find(fault.link);
    if (found == named.end()) continue;
    count(row, fault, found->second);
    times.push_back(seconds_of(found->second.at - fault.from));
  }
  for (auto& [key, value] : rows) {
    value.first.median_seconds = quantile(value.second, 0.5);
    value.first.p99_seconds = quantile(value.second, 0.99);
    summary.rows.push_back(value.first);
  }
  return summary;
}

}  // namespace openmrc::mapsim
