// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/experiment/sweep_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "openmrc/sim/result/json_text.h"
#include "openmrc/text/file_limits.h"

namespace openmrc::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "openmrc-sweep";
constexpr int kVersion = 1;
constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kFileDigits = 16;  // enough that no two of a sweep are alike

// A name of a file is made of it.
bool is_hash(const std::string& text) {
  return text.size() == kHashDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::optional<std::vector<std::string>> texts_of(const Json& json) {
  if (!json.is_array()) return std::nullopt;
  std::vector<std::string> texts;
  for (const Json& element : json) {
    if (!element.is_string()) return std::nullopt;
    texts.push_back(element.get<std::string>());
  }
  return texts;
}

std::optional<PlannedRun> run_of(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto values = texts_of(json.value("values", Json()));
  const Json seed = json.value("seed", Json());
  const Json hash = json.value("sha256", Json());
  if (!values || !seed.is_number_unsigned() || !hash.is_string()) return std::nullopt;
  PlannedRun run{.values = *values, .seed = seed.get<std::uint64_t>(), .hash = hash};
  if (!is_hash(run.hash)) return std::nullopt;
  return run;
}

}  // namespace

std::string name_of(const SweepPlan& plan, const PlannedRun& run) {
  std::string name;
  for (std::size_t i = 0; i < plan.axes.size(); ++i) {
    name += fmt::format("{}={}, ", plan.axes[i], run.values[i]);
  }
  return name + fmt::format("seed {}", run.seed);
}

std::string file_of(const PlannedRun& run) { return run.hash.substr(0, kFileDigits) + ".json"; }

std::string write_plan_json(const SweepPlan& plan) {
  std::string out = fmt::format(
      "{{\n\"format\": \"{}\",\n\"version\": {},\n\"title\": {},\n\"axes\": {},\n\"runs\": [",
      kFormat, kVersion, json_text(plan.title), json_text(plan.axes));
  const char* separator = "\n";
  for (const PlannedRun& run : plan.runs) {
    out +=
        separator + json_text({{"values", run.values}, {"seed", run.seed}, {"sha256", run.hash}});
    separator = ",\n";
  }
  return out + "\n]\n}\n";
}

Result<SweepPlan, std::string> read_plan_json(std::string_view text) {
  if (const auto depth = text::check_json_depth(text); !depth) return failure(depth.error());
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("format", Json()) != kFormat) {
    return failure(fmt::format("its \"format\" is not \"{}\"", kFormat));
  }
  if (json.value("version", Json()) != kVersion) {
    return failure(fmt::format("its \"version\" is not {}", kVersion));
  }
  const Json title = json.value("title", Json());
  const auto axes = texts_of(json.value("axes", Json()));
  const Json runs = json.value("runs", Json());
  if (!title.is_string() || !axes || !runs.is_array()) {
    return failure(std::string("\"title\", \"axes\" or \"runs\" is missing or invalid"));
  }
  SweepPlan plan{.title = title, .axes = *axes};
  for (std::size_t i = 0; i < runs.size(); ++i) {
    auto run = run_of(runs[i]);
    if (!run || run->values.size() != axes->size()) {
      return failure(fmt::format("runs[{}] is invalid", i));
    }
    plan.runs.push_back(std::move(*run));
  }
  return plan;
}

}  // namespace openmrc::sim
