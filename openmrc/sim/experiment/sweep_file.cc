// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/experiment/sweep_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "openmrc/text/numbers.h"
#include "openmrc/text/table_reader.h"
#include "openmrc/text/toml_text.h"

namespace openmrc::sim {
namespace {

using text::Field;
using text::TableReader;

constexpr std::array<std::string_view, 2> kVariantTransports{"mrc", "rc"};
constexpr std::string_view kRunAxis = "run";

// Of all combinations together; a file may have long values and many of them.
constexpr std::size_t kSettingsBytesMax = std::size_t{256} * 1024 * 1024;

struct Setting {
  std::string key;
  const text::Value* value;
};

// Sections and dotted keys alike: "fabric.planes".
void flatten(const text::Table& table, const std::string& before, std::vector<Setting>& out) {
  for (const text::Entry& entry : table.entries) {
    const std::string key = before.empty() ? entry.key : before + "." + entry.key;
    if (const auto* inner = entry.value.as<text::Table>()) {
      flatten(*inner, key, out);
    } else {
      out.push_back({key, &entry.value});
    }
  }
}

class SweepReader {
 public:
  explicit SweepReader(std::string_view text) : file_(text) {}

  Result<SweepFile, std::vector<text::FileError>> read() {
    if (file_.is_toml()) read_everything();
    if (file_.diagnostics().count() > 0) return failure(file_.diagnostics().take());
    return std::move(sweep_);
  }

 private:
  TableReader& top() { return file_.top(); }

  void read_everything() {
    top().read(Field::string("title", sweep_.title));
    top().require("scenario");
    top().read(Field::string("scenario", sweep_.scenario));
    read_seeds();
    sweep_.variants.resize(1);
    if (top().has("runs")) read_runs();
    if (const text::Value* grid = top().find("grid")) read_grid(*grid);
    top().finish();
  }

  void read_seeds() {
    const text::Value* value = top().find("seeds");
    if (value == nullptr) return;
    if (value->as<text::List>() == nullptr) {
      top().read_value(Field::whole("seeds", sweep_.seed_count, 1, kSweepRunsMax), *value);
      return;
    }
    for (const text::Value* element : top().elements("seeds")) {
      std::uint64_t& seed = sweep_.seeds.emplace_back();
      top().read_value(Field::whole("seeds", seed), *element);
      if (std::ranges::count(sweep_.seeds, seed) > 1) {
        top().error_at(*element, "seeds", fmt::format("{} is there twice", seed));
      }
    }
    if (sweep_.seeds.empty()) top().error("seeds", "a number of seeds, or a list of at least one");
  }

  void read_runs() {
    sweep_.axes.emplace_back(kRunAxis);
    sweep_.variants.clear();
    top().for_each_table("runs", [&](TableReader& table) { read_run(table); });
  }

  void read_run(TableReader& table) {
    SweepVariant variant;
    std::string& name = variant.values.emplace_back();
    table.require("name");
    table.read(Field::string("name", name));
    if (std::ranges::find(sweep_.variants, variant.values, &SweepVariant::values) !=
        sweep_.variants.end()) {
      table.error("name", fmt::format("'{}' is there twice", name));
    }
    std::size_t transport = 0;
    if (table.read(Field::word("transport", transport, kVariantTransports))) {
      variant.transport = kVariantTransports[transport];
    }
    if (const text::Value* settings = table.find("set")) read_set(table, *settings, variant);
    sweep_.variants.push_back(std::move(variant));
  }

  static void read_set(TableReader& table, const text::Value& value, SweepVariant& variant) {
    const auto* settings = value.as<text::Table>();
    if (settings == nullptr) {
      return table.error_at(value, "set",
                            "is a table of keys of the scenario: { fabric.planes = 8 }");
    }
    std::vector<Setting> flat;
    flatten(*settings, "", flat);
    for (const Setting& setting : flat) {
      if (const auto text = text::toml_text(*setting.value)) {
        variant.settings.push_back(fmt::format("{}={}", setting.key, *text));
      } else {
        table.error_at(*setting.value, "set", "no scenario has a date");
      }
    }
  }

  void read_grid(const text::Value& value) {
    const auto* table = value.as<text::Table>();
    if (table == nullptr)
      return top().error("grid", "is a section: write [grid] and its axes below");
    std::vector<Setting> axes;
    flatten(*table, "", axes);
    for (const Setting& axis : axes) add_axis(axis);
  }

  // Every variant so far with every value.
  void add_axis(const Setting& axis) {
    const auto* values = axis.value->as<text::List>();
    if (values == nullptr || values->empty()) {
      return top().error_at(*axis.value, "grid",
                            fmt::format("{} is an axis: a list of at least one value", axis.key));
    }
    if (std::ranges::find(sweep_.axes, axis.key) != sweep_.axes.end()) {
      return top().error_at(*axis.value, "grid", fmt::format("{} is there twice", axis.key));
    }
    if (sweep_.runs() * values->size() > kSweepRunsMax) {
      return top().error_at(*axis.value, "grid",
                            fmt::format("more than {} runs", text::grouped(kSweepRunsMax)));
    }
    if (is_too_long(*values)) {
      return top().error_at(*axis.value, "grid", "the settings of all runs together are too long");
    }
    sweep_.axes.push_back(axis.key);
    std::vector<SweepVariant> all;
    for (const SweepVariant& variant : sweep_.variants) {
      for (const text::Value& element : *values) all.push_back(with(variant, axis, element));
    }
    sweep_.variants = std::move(all);
  }

  // The longest of an axis stands in many combinations.
  [[nodiscard]] bool is_too_long(const text::List& values) const {
    std::size_t longest = 0;
    for (const text::Value& value : values) {
      longest = std::max(longest, text::toml_text(value).value_or("").size());
    }
    std::size_t before = 0;
    for (const SweepVariant& variant : sweep_.variants) {
      std::size_t bytes = 0;
      for (const std::string& setting : variant.settings) bytes += setting.size();
      before = std::max(before, bytes);
    }
    return sweep_.variants.size() * values.size() * (before + longest) > kSettingsBytesMax;
  }

  SweepVariant with(SweepVariant variant, const Setting& axis, const text::Value& value) {
    const auto text = text::toml_text(value);
    if (!text) top().error_at(value, "grid", "no scenario has a date");
    const auto* word = value.as<std::string>();
    variant.values.push_back(word != nullptr ? *word : text.value_or(""));
    variant.settings.push_back(fmt::format("{}={}", axis.key, text.value_or("")));
    return variant;
  }

  text::TomlReader file_;
  SweepFile sweep_;
};

}  // namespace

Result<SweepFile, std::vector<text::FileError>> parse_sweep_file(std::string_view text) {
  auto sweep = SweepReader(text).read();
  if (sweep && sweep->runs() > kSweepRunsMax) {
    return failure(std::vector<text::FileError>{
        {.key = "seeds",
         .message = fmt::format("{} runs are more than {}", text::grouped(sweep->runs()),
                                text::grouped(kSweepRunsMax))}});
  }
  return sweep;
}

}  // namespace openmrc::sim
