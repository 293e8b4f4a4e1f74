// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/perf/command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "openmrc/host/clock.h"
#include "openmrc/host/exchange_server.h"
#include "openmrc/host/interrupt.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/perf/bandwidth.h"
#include "tools/mrc/perf/latency.h"
#include "tools/mrc/perf/perftest_options.h"
#include "tools/mrc/perf/report.h"
#include "tools/mrc/perf/session.h"
#include "tools/mrc/perf/timeline.h"

namespace openmrc::tools {
namespace {

using host::Error;

constexpr std::uint64_t kBandwidthIterations = 5000;  // as in perftest
constexpr std::uint64_t kLatencyIterations = 1000;
constexpr Duration kClientWait = seconds(3600);

// With --json - the result has standard output for itself: what else is printed there goes to
// standard error from then on.
std::FILE* result_output = nullptr;  // null: not asked for

bool keep_output_for_result() {
  const int kept = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (kept < 0) return false;
  result_output = ::fdopen(kept, "w");
  return result_output != nullptr && ::dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
}

bool write_file(const std::string& file, const std::string& text) {
  if (file == "-") {
    fmt::print(result_output, "{}\n", text);
    return std::fflush(result_output) == 0;
  }
  std::ofstream out(file);
  out << text << '\n';
  out.close();
  if (!out) complain("perf", Error{.what = "cannot write " + file});
  return static_cast<bool>(out);
}

// Each side verifies what it receives, and is told what the other has verified.
void print_verified(const PerfSession& session, const BandwidthResult& result) {
  const std::string& peer = session.peer_name();
  if (!session.is_server() || session.plan().both_ways) {
    fmt::print(" {} messages verified by {}, byte by byte\n", result.verified_by_peer, peer);
  }
  if (session.is_server() || session.plan().both_ways) {
    fmt::print(" {} messages of {} verified, byte by byte\n", result.verified, peer);
  }
}

// Whether the result is what -w and -y ask for.
bool reaches_limits(const PerfOptions& options, const BandwidthResult& result) {
  if (options.bandwidth_least == 0) return true;
  const BandwidthFigures out = figures(options, result);
  if (out.average < options.bandwidth_least) {
    complain("perf", fmt::format("the bandwidth of {:.2f} is below the limit of {:.2f} (-w)",
                                 out.average, options.bandwidth_least));
    return false;
  }
  if (out.million_messages < options.message_rate_least) {
    complain("perf", fmt::format("the message rate of {:.6f} is below the limit of {:.6f} (-y)",
                                 out.million_messages, options.message_rate_least));
    return false;
  }
  return true;
}

// A run that failed has counters as well, and they are what one wants to see then. With -a the JSON
// is that of the last size, as in perftest.
bool run_bandwidth(PerfSession& session, const PerfOptions& options) {
  BandwidthResult result;
  Result<void, Error> ran;
  bool good = true;
  bool has_head = false;
  for (const std::uint32_t size : sizes_of(session.plan())) {
    session.set_size(size);
    BandwidthRun run(session, options);
    ran = run.run();
    result = run.result();
    if (!ran) break;
    if (result.messages > 0) {
      if (!has_head) print_bandwidth_head(options);
      has_head = true;
      print_bandwidth_row(session.plan(), options, result);
      good = reaches_limits(options, result) && good;
    }
    if (host::interrupted()) break;
  }
  if (has_head) print_table_end(options);
  if (!ran) complain("perf", ran.error());
  if (ran && session.plan().verify) {
    print_verified(session, result);
  }
  const bool written =
      !options.json || write_file(*options.json, bandwidth_json(session, options, result));
  return ran && written && good;
}

bool run_latency_test(PerfSession& session, const PerfOptions& options) {
  LatencyResult result;
  const std::vector<std::uint32_t> sizes = sizes_of(session.plan());
  for (const std::uint32_t size : sizes) {
    const bool is_first = size == sizes.front();
    session.set_size(size);
    auto ran = run_latency(session, is_first);
    if (!ran) {
      complain("perf", ran.error());
      return false;
    }
    result = std::move(*ran);
    if (session.is_server()) continue;
    print_latency_samples(options, result);
    if (is_first) print_latency_head(session.plan(), options);
    print_latency_row(session.plan(), options, result);
    if (host::interrupted()) break;
  }
  if (session.is_server()) return true;
  print_table_end(options);
  print_latency_histogram(options, result);
  return !options.json || write_file(*options.json, latency_json(session, result));
}

// What the host has to say, apart from what was said. Returns all of it.
std::vector<std::string> print_notices(const host::Host& host,
                                       const std::vector<std::string>& said) {
  std::vector<std::string> notices = host.notices();
  for (const std::string& notice : notices) {
    if (std::ranges::find(said, notice) != said.end()) continue;
    fmt::print(stderr, "mrc perf: note: {}\n", notice);
  }
  return notices;
}

bool run_session(PerfSession& session, const PerfOptions& options) {
  const std::vector<std::string> said = print_notices(session.host(), {});
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
  print_notices(session.host(), said);
  return good;
}

int exit_code_of(bool good) {
  if (host::interrupted()) return host::interrupt_exit_code();
  return good ? 0 : 1;
}

int run_client(const PerfOptions& options) {
  auto session = PerfSession::connect(options);
  if (!session) {
    complain("perf", session.error());
    return exit_code_of(false);
  }
  return exit_code_of(run_session(**session, options));
}

Result<std::uint16_t, Error> exchange_port(const PerfOptions& options) {
  if (options.port) return *options.port;
  const auto config = host::load_config(options.config);
  // What is wrong with it is said when the host is opened.
  return config ? config->exchange_port : host::Config{}.exchange_port;
}

// Says who was refused and why, some of them each second: whoever can connect must not be able to
// fill a disk.
class RefusalLog {
 public:
  void operator()(const std::string& peer, const host::ExchangeError& why) {
    if (host::now() >= until_) {
      if (count_ > kRefusalsShown) {
        complain("perf", fmt::format("refused {} more clients", count_ - kRefusalsShown));
      }
      until_ = host::now() + seconds(1);
      count_ = 0;
    }
    if (++count_ > kRefusalsShown) return;
    complain("perf", fmt::format("refused client {}: {}", peer, to_string(why)));
  }

 private:
  static constexpr std::uint64_t kRefusalsShown = 5;

  Instant until_{};
  std::uint64_t count_ = 0;
};

Result<host::ExchangeServer, Error> open_server(const PerfOptions& options) {
  host::ExchangeServerSettings settings{.port = *exchange_port(options),
                                        .lines = PerfSession::kHandshakeLines};
  auto secret = PerfSession::load_secret(options);
  if (!secret) return failure(std::move(secret.error()));
  if (*secret) settings.secret = std::move(**secret);
  settings.check_first = [&options](const std::string& line) -> Result<void, host::ExchangeError> {
    if (auto plan = PerfSession::check_plan(options, line); !plan) {
      return failure(std::move(plan.error()));
    }
    return {};
  };
  settings.on_refused = RefusalLog();
  auto server = host::ExchangeServer::open(std::move(settings));
  if (server) return *std::move(server);
  return failure(
      Error{.what = to_string(server.error()),
            .remedy = "another server is running? choose a port with -p, on both sides"});
}

void announce_wait(const PerfOptions& options) {
  if (options.quiet) return;
  fmt::print(
      "\n************************************\n* Waiting for client to connect... *\n"
      "************************************\n");
  std::fflush(stdout);
}

// Clients that are refused do not count: anybody can reach the port.
int run_server(const PerfOptions& options) {
  auto server = open_server(options);
  if (!server) return complain("perf", server.error());
  announce_wait(options);
  for (;;) {
    auto client = server->accept(kClientWait);
    if (!client) {
      complain("perf", to_string(client.error()));
      if (host::interrupted() || !options.keep_serving) return exit_code_of(false);
      continue;
    }
    const std::string peer = client->connection.peer();
    auto session = PerfSession::serve(options, *std::move(client));
    if (!session) {
      const Error& error = session.error().error;
      complain("perf", fmt::format("refused client {}: {}", peer, error.what), error.remedy);
      if (session.error().is_own && !options.keep_serving) return 1;
      continue;
    }
    const bool good = run_session(**session, options);
    if (host::interrupted() || !options.keep_serving) return exit_code_of(good);
    announce_wait(options);
  }
}

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
