// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/map/simulate.h"

#include <algorithm>
#include <atomic>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

#include "openmrc/text/units.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/fabric/load.h"

namespace openmrc::tools {
namespace {

constexpr std::uint32_t kRoundsMax = 1000;
constexpr std::uint32_t kThreadsMax = 256;

struct SimulateOptions {
  std::string file;
  std::string length = "120s";
  mapsim::Settings settings;
  std::uint32_t threads = std::max(1U, std::thread::hardware_concurrency());
  bool json = false;
};

// Racks are independent, so the result does not depend on the number of threads.
mapsim::Summary simulate(const mapsim::Settings& settings, std::uint32_t threads) {
  const std::vector<mapsim::LinkFault> faults = mapsim::draw_faults(settings);
  const mapsim::FaultTable table(settings.shape, faults);
  std::vector<mapsim::RackResult> racks(settings.shape.racks);
  std::atomic<std::uint32_t> next = 0;
  const auto work = [&] {
    for (std::uint32_t i = next++; i < racks.size(); i = next++) {
      racks[i] = mapsim::run_rack(settings, table, i);
    }
  };
  std::vector<std::jthread> others;
  others.reserve(threads);
  for (std::uint32_t i = 0; i < threads; ++i) others.emplace_back(work);
  others.clear();  // waits for them
  return mapsim::summarise(faults, racks);
}

int run_simulation(const SimulateOptions& options) {
  const auto fabric = load_addressed_fabric(options.file);
  if (!fabric) return complain("map", fabric.error());
  const auto length = text::parse_duration(options.length);
  if (!length) return complain("map", "--length: " + length.error());
  mapsim::Settings settings = options.settings;
  settings.shape = fabric->shape();
  settings.length = *length;
  const mapsim::Summary summary = simulate(settings, options.threads);
  std::cout << (options.json ? simulation_json(settings, summary)
                             : simulation_text(settings, summary));
  return 0;
}

}  // namespace

void add_map_simulate(CLI::App& map, int& exit_code) {
  const auto options = std::make_shared<SimulateOptions>();
  CLI::App* simulate = map.add_subcommand(
      "simulate", "What agents of a fabric name, if links of it are bad at random");
  mapsim::Settings& settings = options->settings;
  simulate->add_option("file", options->file, "Fabric file; - is standard input")
      ->required()
      ->type_name("FILE");
  simulate->add_option("--bad", settings.bad_links, "Bad links; default 10")->type_name("N");
  simulate->add_option("--loss", settings.losses, "What they lose; default 1 0.1 0.01 0.001")
      ->check(CLI::Range(0.0, 1.0))
      ->expected(1, 16)
      ->type_name("PART");
  simulate
      ->add_option("--base-loss", settings.base_loss,
                   "What every link loses in each direction; default 1e-7")
      ->check(CLI::Range(0.0, 0.1))
      ->type_name("PART");
  simulate
      ->add_option("--rounds", settings.rounds_per_second,
                   "Rounds of probes per second; default 100")
      ->check(CLI::Range(1U, kRoundsMax))
      ->type_name("N");
  simulate->add_option("--length", options->length, "Simulated time; default 120s")
      ->type_name("TIME");
  simulate->add_option("--seed", settings.seed, "Which faults; default 1")->type_name("N");
  simulate->add_option("--threads", options->threads, "Default: as many as processors")
      ->check(CLI::Range(1U, kThreadsMax))
      ->type_name("N");
  simulate->add_flag("--json", options->json, "For programs");
  simulate->callback([options, &exit_code] { exit_code = run_simulation(*options); });
}

}  // namespace openmrc::tools
