// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/perf/command.h"

#include <fmt/core.h>

#include <cstdio>
#include <fstream>
#include <memory>

#include "openmrc/host/interrupt.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/perf/bandwidth.h"
#include "tools/mrc/perf/latency.h"
#include "tools/mrc/perf/report.h"
#include "tools/mrc/perf/session.h"
#include "tools/mrc/perf/timeline.h"

namespace openmrc::tools {
namespace {

using host::Error;

constexpr std::uint64_t kBandwidthIterations = 5000;  // as in perftest
constexpr std::uint64_t kLatencyIterations = 1000;
constexpr Duration kClientWait = seconds(3600);

bool write_file(const std::string& file, const std::string& text) {
  if (file == "-") {
    fmt::print("{}\n", text);
    return true;
  }
  std::ofstream out(file);
  out << text << '\n';
  out.close();
  if (!out) complain("perf", Error{.what = "cannot write " + file});
  return static_cast<bool>(out);
}

// A run that failed has counters as well, and they are what one wants to see then.
bool run_bandwidth(PerfSession& session, const PerfOptions& options) {
  BandwidthRun run(session, options);
  const auto ran = run.run();
  const BandwidthResult& result = run.result();
  if (!ran) {
    complain("perf", ran.error());
  } else if (result.messages > 0) {
    print_bandwidth(session.plan(), options, result);
  }
  if (ran && session.plan().verify) {
    fmt::print(" {} messages of {} verified, byte by byte\n", result.verified, session.peer_name());
  }
  const bool written =
      !options.json || write_file(*options.json, bandwidth_json(session, options, result));
  return ran && written;
}

bool run_latency_test(PerfSession& session, const PerfOptions& options) {
  const auto result = run_latency(session);
  if (!result) {
    complain("perf", result.error());
    return false;
  }
  if (session.is_server()) return true;
  print_latency(session.plan(), options, *result);
  return !options.json || write_file(*options.json, latency_json(session, *result));
}

bool run_session(PerfSession& session, const PerfOptions& options) {
  for (const std::string& notice : session.host().notices()) {
    fmt::print(stderr, "mrc perf: note: {}\n", notice);
  }
  print_perf_header(session, options);
  std::optional<PerfTimeline> timeline;
  if (options.timeline) timeline.emplace(session.host(), *options.timeline);
  bool good = options.plan.test == PerfTest::kWriteBandwidth ? run_bandwidth(session, options)
                                                             : run_latency_test(session, options);
  if (timeline) {
    if (const auto finished = timeline->finish(); !finished) {
      complain("perf", finished.error());
      good = false;
    }
  }
  return good;
}

int run_client(const PerfOptions& options) {
  auto session = PerfSession::connect(options);
  if (!session) {
    complain("perf", session.error());
    return 1;
  }
  return run_session(**session, options) ? 0 : 1;
}

Result<std::uint16_t, Error> exchange_port(const PerfOptions& options) {
  if (options.port) return *options.port;
  const auto config = host::load_config(options.config);
  // What is wrong with it is said when the host is opened.
  return config ? config->exchange_port : host::Config{}.exchange_port;
}

int run_server(const PerfOptions& options) {
  auto listener = host::ExchangeListener::open(*exchange_port(options));
  if (!listener) {
    complain("perf",
             Error{.what = to_string(listener.error()),
                   .remedy = "another server is running? choose a port with -p, on both sides"});
    return 1;
  }
  do {
    if (!options.quiet) {
      fmt::print(
          "\n************************************\n* Waiting for client to connect... *\n"
          "************************************\n");
      std::fflush(stdout);
    }
    auto session = PerfSession::serve(options, *listener, kClientWait);
    if (!session) {
      complain("perf", session.error());
      if (options.keep_serving && !host::interrupted()) continue;
      return 1;
    }
    const bool good = run_session(**session, options);
    if (!good && !options.keep_serving) return 1;
  } while (options.keep_serving && !host::interrupted());
  return 0;
}

void add_common(CLI::App& command, const std::shared_ptr<PerfOptions>& options) {
  PerfPlan& plan = options->plan;
  command
      .add_option("server", options->server, "Server to connect to; without it, run as the server")
      ->type_name("HOST");
  command.add_option("-s,--size", plan.size, "Message size in bytes; suffixes K and M")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(1u, 1u << 30).description(""))
      ->type_name("N");
  command.add_option("-n,--iters", plan.iterations, "Messages per queue pair")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32).description(""))
      ->type_name("N");
  command.add_option("-D,--duration", plan.seconds, "Run for this long, with a line every second")
      ->check(CLI::Range(0.1, 1e6).description(""))
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
      .add_option("--out_json_file,--json", options->json, "Write the result as JSON; - prints it")
      ->type_name("FILE");
  command.add_flag("--keep", options->keep_serving,
                   "Server: keep serving, one client after the other");
  command.add_flag_callback("-F,--CPU-freq", [] {}, "Ignored; for compatibility with perftest");
  command.add_flag("--quiet", options->quiet, "No header and no progress lines");
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
      ->check(CLI::Range(1u, 16384u).description(""))
      ->type_name("N");
  command->add_option("-t,--tx-depth", options->plan.depth, "Send queue depth")
      ->check(CLI::Range(1u, 15000u).description(""))
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
