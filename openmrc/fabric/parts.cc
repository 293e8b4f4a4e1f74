// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "openmrc/base/check.h"
#include "openmrc/text/table_reader.h"

namespace openmrc::fabric {
namespace {

using text::Field;
using text::TableReader;

constexpr double kAnythingMax = 1e12;           // keeps sums far from what a double cannot hold
constexpr std::uint32_t kPerCabinetMax = 1024;  // more than anything holds

std::optional<double> number_in(const text::Value& value) {
  if (const auto* whole = value.as<std::int64_t>()) return static_cast<double>(*whole);
  if (const auto* fraction = value.as<double>()) return *fraction;
  return std::nullopt;
}

enum class Zero { kAllowed, kNot };

void read_decimal(TableReader& table, std::string_view key, double& into, Zero zero) {
  table.require(key);
  const text::Value* const value = table.find(key);
  if (value == nullptr) return;
  const auto number = number_in(*value);
  const bool fits = number && std::isfinite(*number) && *number >= 0 && *number <= kAnythingMax &&
                    (zero == Zero::kAllowed || *number > 0);
  if (fits) {
    into = *number;
  } else {
    table.error_at(*value, key,
                   fmt::format("is {}; it must be a number {}", shown(*value),
                               zero == Zero::kAllowed ? "from 0 on" : "above 0"));
  }
}

void read_count(TableReader& table, std::string_view key, std::uint32_t& into) {
  table.require(key);
  table.read(Field::whole(key, into, 1, kPerCabinetMax));
}

void read_switch(TableReader& table, SwitchPart& part) {
  read_decimal(table, "tbps", part.tbps, Zero::kNot);
  read_decimal(table, "watts", part.watts, Zero::kAllowed);
  read_decimal(table, "price", part.price, Zero::kAllowed);
}

CablePart read_cable(TableReader& table) {
  CablePart part;
  table.require("name");
  table.read(Field::string("name", part.name));
  table.require("optical");
  table.read(Field::flag("optical", part.optical));
  read_decimal(table, "gbps", part.gbps, Zero::kNot);
  read_decimal(table, "reach_m", part.reach_m, Zero::kNot);
  read_decimal(table, "watts", part.watts, Zero::kAllowed);
  read_decimal(table, "end_price", part.end_price, Zero::kAllowed);
  read_decimal(table, "price", part.price, Zero::kAllowed);
  return part;
}

void read_floor(TableReader& table, FloorRules& floor) {
  read_count(table, "hosts_per_cabinet", floor.hosts_per_cabinet);
  read_count(table, "switches_per_cabinet", floor.switches_per_cabinet);
  read_count(table, "racks_per_line", floor.racks_per_line);
  read_decimal(table, "cabinet_m", floor.cabinet_m, Zero::kNot);
  read_decimal(table, "line_m", floor.line_m, Zero::kNot);
  read_decimal(table, "in_cabinet_m", floor.in_cabinet_m, Zero::kNot);
  read_decimal(table, "to_tray_m", floor.to_tray_m, Zero::kAllowed);
}

}  // namespace

const CablePart& Parts::optics() const {
  const auto found = std::ranges::find_if(cables, &CablePart::optical);
  OPENMRC_CHECK(found != cables.end(), "parts without an optical cable are not accepted");
  return *found;
}

Result<Parts, std::vector<text::FileError>> parse_parts_toml(std::string_view text) {
  Parts parts;
  text::TomlReader file(text);
  if (!file.is_toml()) return failure(file.diagnostics().take());
  TableReader& top = file.top();
  top.require("currency");
  top.read(Field::string("currency", parts.currency));
  top.require("prices_from");
  top.read(Field::string("prices_from", parts.prices_from));
  if (TableReader* const table = top.require_section("switch")) {
    read_switch(*table, parts.switch_part);
  }
  top.for_each_table("cable",
                     [&](TableReader& table) { parts.cables.push_back(read_cable(table)); });
  if (TableReader* const table = top.require_section("floor")) read_floor(*table, parts.floor);
  if (std::ranges::none_of(parts.cables, &CablePart::optical)) {
    top.error_here("needs a [[cable]] with optical = true, for comparisons");
  }
  top.finish();
  if (file.diagnostics().count() > 0) return failure(file.diagnostics().take());
  return parts;
}

}  // namespace openmrc::fabric
