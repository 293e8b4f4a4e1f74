// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/sim/sweep_load.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <numeric>
#include <utility>

#include "openmrc/sim/experiment/sweep_file.h"
#include "openmrc/text/file_limits.h"
#include "tools/mrc/read_file.h"
#include "tools/mrc/sim/files.h"
#include "tools/mrc/sim/forecast.h"
#include "tools/mrc/sim/prepare.h"

namespace openmrc::tools {
namespace {

constexpr std::uint64_t kSeedMax = std::numeric_limits<std::int64_t>::max();

Result<sim::SweepFile, std::string> read_sweep(const std::string& path) {
  const auto text = read_file(path, text::kTomlBytesMax);
  if (!text) return failure(text.error());
  auto sweep = sim::parse_sweep_file(*text);
  if (sweep) return std::move(*sweep);
  for (text::FileError& error : sweep.error()) error.file = path;
  return failure(to_string(sweep.error()));
}

std::string settings_of(const sim::SweepVariant& variant) {
  std::string text;
  for (const std::string& setting : variant.settings) text += " --set " + setting;
  return text;
}

Result<PreparedRun, std::string> prepare_variant(const std::string& scenario,
                                                 const sim::SweepVariant& variant) {
  auto loaded = load_scenario(scenario, {.settings = variant.settings});
  if (!loaded) return failure(loaded.error());
  if (!variant.transport.empty()) loaded->inputs.transport = variant.transport;
  return prepare_run(std::move(*loaded));
}

Result<std::vector<std::uint64_t>, std::string> seeds_of(const sim::SweepFile& sweep,
                                                         std::uint64_t first) {
  if (!sweep.seeds.empty()) return sweep.seeds;
  if (first > kSeedMax - sweep.seed_count) {
    return failure(fmt::format("seeds: there are no {} from {} on", sweep.seed_count, first));
  }
  std::vector<std::uint64_t> seeds(sweep.seed_count);
  std::iota(seeds.begin(), seeds.end(), first);
  return seeds;
}

// The runs of one combination, which have the same inputs but for the seed.
Result<void, std::string> add_variant(LoadedSweep& loaded, const sim::SweepFile& sweep,
                                      const sim::SweepVariant& variant,
                                      const std::string& scenario) {
  auto prepared = prepare_variant(scenario, variant);
  if (!prepared) {
    return failure(fmt::format("{}\n(with{})", prepared.error(), settings_of(variant)));
  }
  const auto seeds = seeds_of(sweep, prepared->inputs.seed);
  if (!seeds) return failure(seeds.error());
  loaded.seeds = seeds->size();
  loaded.variants.push_back(
      {.inputs = std::move(prepared->inputs), .work = expected_hops(prepared->scenario)});
  for (const std::uint64_t seed : *seeds) {
    loaded.plan.runs.push_back({.values = variant.values, .seed = seed});
    loaded.plan.runs.back().hash = inputs_hash(loaded.inputs_of(loaded.plan.runs.size() - 1));
  }
  return {};
}

}  // namespace

sim::RunInputs LoadedSweep::inputs_of(std::size_t run) const {
  sim::RunInputs inputs = variant_of(run).inputs;
  inputs.seed = plan.runs[run].seed;
  return inputs;
}

Result<LoadedSweep, std::string> load_sweep(const std::string& path) {
  const auto sweep = read_sweep(path);
  if (!sweep) return failure(sweep.error());
  return plan_sweep(*sweep, (std::filesystem::path(path).parent_path() / sweep->scenario).string());
}

Result<LoadedSweep, std::string> plan_sweep(const sim::SweepFile& sweep,
                                            const std::string& scenario) {
  LoadedSweep loaded;
  loaded.plan.title = sweep.title;
  loaded.plan.axes = sweep.axes;
  for (const sim::SweepVariant& variant : sweep.variants) {
    if (auto added = add_variant(loaded, sweep, variant, scenario); !added) {
      return failure(added.error());
    }
  }
  return loaded;
}

}  // namespace openmrc::tools
