// SPDX-License-Identifier: BSD-3-Clause
// mrc-sim-mpi: runs one scenario in several processes, on one machine or many. The result is that
// of `mrc sim run`, to the last digit.
//   mpirun -n 4 mrc-sim-mpi SCENARIO.toml [--threads N] [--seed N] [--json FILE]
//     [--series FILE.csv]
#include <CLI/CLI.hpp>
#include <cstdint>
#include <exception>
#include <iostream>
#include <optional>
#include <string>

#include "openmrc/sim/host_limits.h"
#include "openmrc/sim/report/result_table.h"
#include "openmrc/sim/result/result_json.h"
#include "openmrc/sim/series/series_csv.h"
#include "openmrc/sim/simulation.h"
#include "tools/mrc-sim-mpi/mpi_exchange.h"
#include "tools/mrc/sim/files.h"
#include "tools/mrc/sim/series_options.h"

namespace {

using namespace openmrc;

struct Options {
  std::string file;
  std::string json;
  std::size_t threads = 1;
  std::optional<std::uint64_t> seed;
  tools::SeriesOptions series;
};

// Every process prints the same error; the first is enough.
int fail(const tools::MpiExchange& exchange, const std::string& text) {
  if (exchange.rank() == 0) std::cerr << "mrc-sim-mpi: " << text << '\n';
  return 2;
}

int run(const Options& options, tools::MpiExchange& exchange) {
  const auto loaded = tools::load_scenario(options.file, {.seed = options.seed});
  if (!loaded) return fail(exchange, loaded.error());
  if (const auto fits = sim::check_host_limits(loaded->scenario); !fits) {
    return fail(exchange, fits.error());
  }
  const sim::RunOptions run_options{.threads = options.threads, .exchange = &exchange};
  const auto settings = sim::read_request(options.series.request, loaded->scenario);
  if (!settings) return fail(exchange, settings.error());
  sim::SampledRun sampled;
  sim::RunResult& result = sampled.result;
  if (options.series.file.empty()) {
    result = sim::run(loaded->scenario, run_options);
  } else {
    sampled = sim::run_sampled(loaded->scenario, run_options, *settings);
  }
  if (exchange.rank() != 0) return 0;
  std::cout << sim::result_table(result);
  if (!options.json.empty()) {
    const sim::Origin origin{.program = "mrc-sim-mpi " OPENMRC_VERSION, .inputs = loaded->inputs};
    const std::string problem =
        tools::write_text(options.json, sim::write_result_json(result, &origin));
    if (!problem.empty()) return fail(exchange, problem);
  }
  if (!options.series.file.empty()) {
    const std::string problem =
        tools::write_text(options.series.file, sim::write_series_csv(sampled.series));
    if (!problem.empty()) return fail(exchange, problem);
  }
  return result.finished && sim::check_packet_accounting(result.totals).empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  tools::MpiExchange exchange(&argc, &argv);
  CLI::App app{"Run a scenario in several processes (start it with mpirun)", "mrc-sim-mpi"};
  Options options;
  app.add_option("scenario", options.file, "Scenario file")->required();
  app.add_option("--threads", options.threads, "Threads in each process")
      ->check(CLI::Range(1, 256));
  app.add_option("--seed", options.seed, "Seed instead of the scenario's");
  app.add_option("--json", options.json, "File for the result");
  tools::add_series_options(app, options.series);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (exchange.rank() != 0) return error.get_exit_code() == 0 ? 0 : 2;
    return app.exit(error) == 0 ? 0 : 2;
  }
  return run(options, exchange);
} catch (const std::exception& error) {
  std::cerr << "mrc-sim-mpi: " << error.what() << '\n';
  return 1;
}
