// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/perf/command.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "openmrc/host/interrupt.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/perf/options.h"
#include "tools/mrc/perf/peers.h"
#include "tools/mrc/perf/perftest_options.h"
#include "tools/mrc/perf/test_run.h"

namespace openmrc::tools {
namespace {

constexpr std::uint64_t kBandwidthIterations = 5000;  // as in perftest
constexpr std::uint64_t kLatencyIterations = 1000;

void add_common(CLI::App& command, const std::shared_ptr<PerfOptions>& options) {
  PerfPlan& plan = options->plan;
  command
      .add_option("server", options->server, "Server to connect to; without it, run as the server")
      ->type_name("HOST");
  command.add_option("-s,--size", plan.size, "Message size in bytes; suffixes K and M")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(1u, kMessageSizeMax).description(""))
      ->type_name("N");
  command.add_option("-n,--iters", plan.iterations, "Messages per queue pair")
      ->check(CLI::Range(std::uint64_t{1}, kIterationsMax).description(""))
      ->type_name("N");
  command.add_option("-D,--duration", plan.seconds, "Run for this long, with a line every second")
      ->check(CLI::Range(0.1, kSecondsMax).description(""))
      ->type_name("SECONDS");
  command.add_option("-p,--port", options->port, "TCP port of the server")->type_name("PORT");
  command.add_option("-m,--mtu", options->mtu, "MTU: payload bytes of a packet")
      ->check(CLI::Range(256u, 8192u).description(""))
      ->type_name("N");
  command.add_option("--config", options->config, "Configuration file")->type_name("openmrc.toml");
  command
      .add_option("--progress", options->progress,
                  "Progress engine: event-driven thread, busy-polling thread, or the caller")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, host::Progress>{{"sleep", host::Progress::kSleep},
                                                {"poll", host::Progress::kPoll},
                                                {"caller", host::Progress::kCaller}}))
      ->option_text("sleep|poll|caller");
  command.add_option("--burst", options->burst, "Consecutive packets on one path")->type_name("N");
  command
      .add_option("--out_json_file,--json", options->json,
                  "Write the result as JSON; - is standard output")
      ->type_name("FILE");
  command
      .add_option("--secret-file", options->secret_file,
                  "File with a secret that the other side must have too")
      ->type_name("FILE");
  command
      .add_option("--memory-max", options->memory_max,
                  "Most memory that a test may take on this host; suffixes K, M and G")
      ->transform(CLI::AsSizeValue(false))
      ->type_name("SIZE");
  command.add_flag("--keep", options->keep_serving,
                   "Server: keep serving, one client after the other");
  command.add_flag("--quiet", options->quiet, "No header and no progress lines");
}

// What there is for scripts that were written for perftest.
void add_perftest_options(CLI::App& command, const std::shared_ptr<PerfOptions>& options) {
  command.add_flag_callback(
      "--out_json", [options] { options->json = options->json.value_or("perftest_out.json"); },
      "The same as --json perftest_out.json");
  command
      .add_flag("-a,--all", options->plan.all_sizes, "All sizes from 2 to 8388608 bytes in turn")
      ->excludes(command.get_option("-D"));
  command.set_version_flag("-V,--version", "Version: " OPENMRC_VERSION);
  command
      .add_option_function<std::string>(
          "-c,--connection",
          [&ignored = options->ignored](const std::string&) { ignored.emplace_back("-c"); })
      ->check(CLI::IsMember({"RC"}))
      ->group("");
  add_ignored_perftest_options(command, options->plan.test, options->ignored);
  command.footer(fmt::format(
      "Start the server on one host, without a host name, and the client on the other:\n"
      "  h1$ mrc perf {0}\n"
      "  h0$ mrc perf {0} h1 {1}\n\n"
      "Options of perftest that have no meaning here, such as -d or -x, are accepted and ignored.",
      name(options->plan.test),
      options->plan.test == PerfTest::kWriteLatency ? "--iters 10000" : "--duration 10"));
}

// --output=bandwidth
void add_output(CLI::App& command, const std::shared_ptr<PerfOptions>& options,
                std::map<std::string, PerfOutput> words) {
  command.add_option("--output", options->output, "Print nothing but this number")
      ->transform(CLI::CheckedTransformer(words))
      ->option_text(options->plan.test == PerfTest::kWriteLatency ? "latency"
                                                                  : "bandwidth|message_rate");
}

void note_ignored(const PerfOptions& options) {
  if (options.ignored.empty()) return;
  fmt::print(stderr, "mrc perf: note: without effect here: {}\n", fmt::join(options.ignored, ", "));
}

void start(CLI::App& command, const std::shared_ptr<PerfOptions>& options, int& exit_code,
           std::uint64_t iterations) {
  command.callback([options, &exit_code, iterations] {
    PerfPlan& plan = options->plan;
    if (plan.seconds > 0) {
      plan.iterations = 0;
    } else if (plan.iterations == 0) {
      plan.iterations = iterations;
    }
    if (plan.all_sizes) plan.size = kAllSizesLast;
    if (options->output) options->quiet = true;
    note_ignored(*options);
    if (options->json == "-" && !keep_output_for_result()) {
      exit_code = complain("perf", "cannot write to standard output");
      return;
    }
    host::catch_interrupts();
    exit_code = options->server ? run_client(*options) : run_server(*options);
  });
}

void add_write_bw(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<PerfOptions>();
  options->plan.test = PerfTest::kWriteBandwidth;
  CLI::App* command = parent.add_subcommand("write-bw", "Bandwidth of RDMA writes");
  add_common(*command, options);
  command->add_option("-q,--qp", options->plan.queue_pairs, "Queue pairs")
      ->check(CLI::Range(1u, kQueuePairsMax).description(""))
      ->type_name("N");
  command->add_option("-t,--tx-depth", options->plan.depth, "Send queue depth")
      ->check(CLI::Range(1u, kDepthMax).description(""))
      ->type_name("N");
  command->add_option("--shards", options->shards, "Threads that move packets")->type_name("N");
  command->add_flag("-b,--bidirectional", options->plan.both_ways,
                    "Measure both directions at once");
  command->add_flag("--verify,--data_validation", options->plan.verify,
                    "Verify every byte that arrives");
  command->add_flag("--report_gbits", options->gigabits, "Gb/s instead of MiB/s");
  command
      ->add_option("--timeline", options->timeline,
                   "Write the bytes received here after each millisecond")
      ->type_name("FILE.csv");
  command->add_flag("-N,--noPeak", options->no_peak, "No peak: print 0");
  command
      ->add_option("-w,--limit_bw", options->bandwidth_least,
                   "Fail if the average is below this, in the unit of the result")
      ->type_name("N");
  command
      ->add_option("-y,--limit_msgrate", options->message_rate_least,
                   "Fail if there are fewer messages, in millions a second; goes with -w")
      ->needs(command->get_option("-w"))
      ->type_name("N");
  add_output(*command, options,
             {{"bandwidth", PerfOutput::kBandwidth}, {"message_rate", PerfOutput::kMessageRate}});
  add_perftest_options(*command, options);
  command->get_option("-a")->excludes(command->get_option("--verify"));
  start(*command, options, exit_code, kBandwidthIterations);
}

void add_write_lat(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<PerfOptions>();
  options->plan.test = PerfTest::kWriteLatency;
  options->plan.size = 2;
  options->plan.depth = 1;
  options->progress = host::Progress::kCaller;
  CLI::App* command = parent.add_subcommand("write-lat", "Latency of RDMA writes");
  add_common(*command, options);
  command->add_flag("-H,--report-histogram,--report-histogrm", options->histogram,
                    "Print a histogram of the latencies");
  command->add_flag("-U,--report-unsorted", options->samples, "Print every sample");
  command->add_flag("-e,--events", options->plan.sleeps,
                    "Event-driven: sleep until the response arrives, instead of busy-polling");
  add_output(*command, options, {{"latency", PerfOutput::kLatency}});
  add_perftest_options(*command, options);
  start(*command, options, exit_code, kLatencyIterations);
}

}  // namespace

void add_perf_command(CLI::App& app, int& exit_code) {
  CLI::App* perf = app.add_subcommand("perf", "Measure bandwidth and latency between two hosts");
  perf->require_subcommand(1);
  perf->footer(
      "Start the server on one host, without a host name, and the client on the other:\n"
      "  h1$ mrc perf write-bw\n"
      "  h0$ mrc perf write-bw h1 --duration 10\n");
  add_write_bw(*perf, exit_code);
  add_write_lat(*perf, exit_code);
}

}  // namespace openmrc::tools
