// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/availability/availability_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "openmrc/sim/scenario/fault_fields.h"
#include "openmrc/text/table_reader.h"

namespace openmrc::sim {
namespace {

using text::Field;
using text::TableReader;

constexpr std::size_t kSeedsPerStateMax = 10'000;
constexpr std::size_t kStatesMax = 10'000;
constexpr double kHoursMax = 1e9;  // 100,000 years

void read_hours(TableReader& table, std::string_view key, double& hours) {
  table.require(key);
  const text::Value* value = table.find(key);
  if (value == nullptr) return;
  const auto* whole = value->as<std::int64_t>();
  const auto* number = value->as<double>();
  hours = whole != nullptr ? static_cast<double>(*whole) : number != nullptr ? *number : 0;
  // Also what is no number at all.
  if (!(hours > 0 && hours <= kHoursMax)) {
    table.error(key, fmt::format("must be hours: a number above 0, at most {}", kHoursMax));
  }
}

UnreliableParts read_parts(TableReader& table) {
  UnreliableParts parts;
  table.require("of");
  table.read(Field::word("of", parts.group, kGroupWords));
  read_hours(table, "mtbf_hours", parts.mtbf_hours);
  read_hours(table, "mttr_hours", parts.mttr_hours);
  return parts;
}

}  // namespace

Result<AvailabilityFile, std::vector<text::FileError>> parse_availability_file(
    std::string_view text) {
  text::TomlReader reader(text);
  AvailabilityFile file;
  TableReader& top = reader.top();
  if (reader.is_toml()) {
    top.require("scenario");
    top.read(Field::string("title", file.title));
    top.read(Field::string("scenario", file.scenario));
    top.read(Field::whole("seeds", file.seeds, 2, kSeedsPerStateMax));
    top.read(Field::share("mass", file.mass));
    top.read(Field::whole("states", file.states_max, 1, kStatesMax));
    top.for_each_table("parts", [&](TableReader& table) {
      const UnreliableParts parts = read_parts(table);
      if (std::ranges::find(file.parts, parts.group, &UnreliableParts::group) != file.parts.end()) {
        table.error("of", "is there twice");
      }
      file.parts.push_back(parts);
    });
    if (file.parts.empty()) top.error("parts", "is required: [[parts]] says what fails how often");
    top.finish();
  }
  if (reader.diagnostics().count() > 0) return failure(reader.diagnostics().take());
  return file;
}

Result<void, std::string> count_parts(AvailabilityFile& file, const fabric::Fabric& fabric) {
  for (UnreliableParts& parts : file.parts) {
    parts.count = size_of(parts.group, fabric);
    if (parts.count > 0) continue;
    return failure(
        fmt::format("parts: the fabric of '{}' has no {}", file.scenario, name_of(parts)));
  }
  return {};
}

}  // namespace openmrc::sim
