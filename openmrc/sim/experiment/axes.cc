// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/experiment/axes.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace openmrc::sim {
namespace {

using AxisValues = std::map<std::string, std::string, std::less<>>;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Text as people say it, without its quotes.
std::string_view unquoted(std::string_view value) {
  const bool is_quoted = value.size() >= 2 && value.front() == value.back() &&
                         (value.front() == '"' || value.front() == '\'');
  return is_quoted ? value.substr(1, value.size() - 2) : value;
}

// By axis; the last setting of a key holds. The names of axes, in the order of the runs, go to
// `order`.
AxisValues values_of(const RunLabels& run, std::vector<std::string>& order) {
  AxisValues values;
  const auto put = [&](std::string_view key, std::string_view value) {
    if (std::ranges::find(order, key) == order.end()) order.emplace_back(key);
    values.insert_or_assign(std::string(key), std::string(value));
  };
  put("scenario", run.scenario);
  put("transport", run.transport);
  for (const std::string_view setting : run.settings) {
    const std::size_t equals = std::min(setting.find('='), setting.size());
    const std::string_view key = trimmed(setting.substr(0, equals));
    if (key == "seed") continue;
    const std::string_view value = equals < setting.size() ? setting.substr(equals + 1) : "";
    put(key, unquoted(trimmed(value)));
  }
  return values;
}

std::string value_of(const AxisValues& values, const std::string& axis) {
  const auto found = values.find(axis);
  return found == values.end() ? "-" : found->second;
}

}  // namespace

FoundAxes find_axes(const std::vector<RunLabels>& runs) {
  std::vector<std::string> order;
  std::vector<AxisValues> all;
  all.reserve(runs.size());
  for (const RunLabels& run : runs) all.push_back(values_of(run, order));
  FoundAxes found;
  for (const std::string& axis : order) {
    const auto differs = [&](const AxisValues& values) {
      return value_of(values, axis) != value_of(all.front(), axis);
    };
    if (std::ranges::any_of(all, differs)) found.axes.push_back(axis);
  }
  for (const AxisValues& values : all) {
    std::vector<std::string>& row = found.values.emplace_back();
    for (const std::string& axis : found.axes) row.push_back(value_of(values, axis));
  }
  return found;
}

}  // namespace openmrc::sim
