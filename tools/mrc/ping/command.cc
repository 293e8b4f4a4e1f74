// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/ping/command.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "openmrc/fabric/names.h"
#include "openmrc/host/clock.h"
#include "openmrc/host/exchange.h"
#include "openmrc/host/exchange_server.h"
#include "openmrc/host/host.h"
#include "openmrc/host/interrupt.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/exchange_remedy.h"

namespace openmrc::tools {
namespace {

using core::EvIndex;
using host::Error;

// Next to mrc perf, so that both can serve at once.
constexpr std::uint16_t kPortDefault = 18516;
constexpr Duration kProbeAnswerMax = seconds(1);
constexpr Duration kProbeAnswerMaxInterrupted = milliseconds(200);
constexpr Duration kProbeSlice = milliseconds(10);

struct PingOptions {
  std::optional<std::string> host{};
  std::optional<std::string> config{};
  std::uint16_t port = kPortDefault;
  std::uint32_t count = 5;
  double interval = 0.05;  // seconds between two probes of one path
  bool serve = false;
  bool json = false;
};

// Paths that do not respond are exit code 1; not having probed is 2.
int not_tried(const Error& error) {
  complain("ping", error);
  return 2;
}

Result<std::unique_ptr<host::Host>, Error> open_host(const PingOptions& options) {
  auto config = host::load_config(options.config);
  if (!config) {
    std::string all;
    for (const host::ConfigError& error : config.error()) {
      all += (all.empty() ? "" : "\n") + to_string(error);
    }
    return failure(Error{.what = all});
  }
  return host::Host::open(std::move(*config));
}

// A client that stays connected keeps nobody waiting; of more than this many the oldest goes.
constexpr std::size_t kClientsMax = 64;

// One queue pair, connected to that of the other side: whoever answers a probe of a peer takes a
// path that is known to work, so a probe tells of the way there alone.
struct Connection {
  std::unique_ptr<host::CompletionQueue> completions;
  std::unique_ptr<host::QueuePair> qp;
};

// `first`: what the other side has sent already.
Result<Connection, Error> connect(host::Host& host, host::ExchangeConnection& control,
                                  std::optional<std::string> first = {}) {
  Connection made{.completions = host.create_completion_queue(), .qp = nullptr};
  auto qp = host.create_queue_pair({.writes = made.completions.get()});
  if (!qp) return failure(std::move(qp.error()));
  made.qp = std::move(*qp);
  if (const auto sent = control.send(to_json(made.qp->connection_info())); !sent) {
    return failure(Error{.what = to_string(sent.error())});
  }
  const Result<std::string, host::ExchangeError> text =
      first ? Result<std::string, host::ExchangeError>(*std::move(first))
            : control.receive(seconds(10));
  if (!text) return failure(Error{.what = to_string(text.error())});
  const auto info = host::connection_info_from(*text);
  if (!info) return failure(Error{.what = to_string(info.error())});
  if (auto connected = made.qp->connect(*info); !connected) {
    return failure(std::move(connected.error()));
  }
  // No probes before both sides are connected.
  if (const auto sent = control.send(R"({"ready":true})"); !sent) {
    return failure(Error{.what = to_string(sent.error())});
  }
  return made;
}

// Until the other side is connected too.
Result<void, Error> await_ready(host::ExchangeConnection& control) {
  const auto ready = control.receive(seconds(10));
  if (!ready) return failure(Error{.what = to_string(ready.error())});
  return {};
}

struct PingClient {
  host::ExchangeConnection control;
  Connection connection;
};

int serve(const PingOptions& options) {
  auto host = open_host(options);
  if (!host) return not_tried(host.error());
  auto server = host::ExchangeServer::open(
      {.port = options.port,
       .check_first = [](const std::string& line) -> Result<void, host::ExchangeError> {
         if (auto info = host::connection_info_from(line); !info) return failure(info.error());
         return {};
       }});
  if (!server) return not_tried({.what = to_string(server.error())});
  fmt::print("{} answers; Ctrl-C ends it\n", (*host)->config().name);
  std::fflush(stdout);
  std::list<PingClient> clients;
  while (!host::interrupted()) {
    auto request = server->accept(milliseconds(200));
    std::erase_if(clients, [](const PingClient& client) { return client.control.peer_gone(); });
    if (!request) continue;
    auto connection = connect(**host, request->connection, std::move(request->lines[0]));
    if (!connection) {
      complain("ping", connection.error());
      continue;
    }
    clients.push_back({std::move(request->connection), *std::move(connection)});
    if (clients.size() > kClientsMax) clients.pop_front();
  }
  return 0;
}

// What is known of one path.
struct PathResult {
  std::uint32_t sent = 0;
  std::vector<std::int64_t> rtts;  // ns
};

// Until then, or a signal.
void pause_until(Instant end) {
  while (host::now() < end && !host::interrupted()) {
    const Duration left = std::min(end - host::now(), kProbeSlice);
    std::this_thread::sleep_for(std::chrono::nanoseconds(left.raw()));
  }
}

std::vector<PathResult> probe_all(host::QueuePair& qp, std::size_t paths,
                                  const PingOptions& options) {
  std::vector<PathResult> results(paths);
  const auto take = [&] {
    for (const core::ProbeAnswer& answer : qp.take_probe_answers()) {
      results[answer.index.raw()].rtts.push_back(answer.rtt.raw());
    }
  };
  for (std::uint32_t round = 0; round < options.count && !host::interrupted(); ++round) {
    for (std::size_t i = 0; i < paths; ++i) {
      if (qp.probe_path(EvIndex(static_cast<std::uint8_t>(i)), round)) ++results[i].sent;
    }
    pause_until(host::now() + Duration(static_cast<std::int64_t>(options.interval * 1e9)));
    take();
  }
  const auto all_answered = [&] {
    return std::ranges::all_of(results,
                               [](const PathResult& r) { return r.rtts.size() == r.sent; });
  };
  const Instant begin = host::now();
  const auto is_over = [&] {
    return host::now() >=
           begin + (host::interrupted() ? kProbeAnswerMaxInterrupted : kProbeAnswerMax);
  };
  while (!all_answered() && !is_over()) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(kProbeSlice.raw()));
    take();
  }
  return results;
}

struct PathRow {
  std::string plane;
  std::string uplink;
  std::string path;
  PathResult result;
};

double loss_of(const PathResult& result) {
  if (result.sent == 0) return 100;
  return 100.0 * static_cast<double>(result.sent - result.rtts.size()) / result.sent;
}

void print_rows(const std::vector<PathRow>& rows) {
  fmt::print("{:6} {:7} {:>6} {:>9} {:>9} {:>9}  {}\n", "plane", "uplink", "loss", "min us",
             "avg us", "max us", "path");
  for (const PathRow& row : rows) {
    const auto& rtts = row.result.rtts;
    fmt::print("{:6} {:7} {:>5.0f}% ", row.plane, row.uplink, loss_of(row.result));
    if (rtts.empty()) {
      fmt::print("{:>9} {:>9} {:>9}  {}\n", "-", "-", "-", row.path);
      continue;
    }
    double sum = 0;
    for (const std::int64_t rtt : rtts) sum += static_cast<double>(rtt);
    fmt::print("{:>9.1f} {:>9.1f} {:>9.1f}  {}\n",
               static_cast<double>(*std::ranges::min_element(rtts)) / 1e3,
               sum / static_cast<double>(rtts.size()) / 1e3,
               static_cast<double>(*std::ranges::max_element(rtts)) / 1e3, row.path);
  }
}

void print_json(const std::vector<PathRow>& rows, const std::string& peer) {
  nlohmann::ordered_json paths = nlohmann::ordered_json::array();
  for (const PathRow& row : rows) {
    paths.push_back({{"plane", row.plane},
                     {"uplink", row.uplink},
                     {"path", row.path},
                     {"sent", row.result.sent},
                     {"answered", row.result.rtts.size()},
                     {"rtt_ns", row.result.rtts}});
  }
  fmt::print("{}\n", nlohmann::ordered_json{{"peer", peer}, {"paths", paths}}.dump(2));
}

// What the paths that do not respond have in common, as far as whole planes go.
void say_what_is_wrong(const std::vector<PathRow>& rows, const std::string& peer) {
  const auto lost = static_cast<std::size_t>(
      std::ranges::count_if(rows, [](const PathRow& row) { return row.result.rtts.empty(); }));
  if (lost == 0) return;
  if (lost == rows.size()) {
    fmt::print("No path to {} responds: are its ports up? (run mrc doctor on both hosts)\n", peer);
    return;
  }
  fmt::print("{} of {} paths to {} do not respond.\n", lost, rows.size(), peer);
}

int ping(const PingOptions& options) {
  auto host = open_host(options);
  if (!host) return not_tried(host.error());
  auto control = host::ExchangeConnection::connect(*options.host, options.port,
                                                   (*host)->config().exchange_timeout);
  if (!control) {
    return not_tried(
        {.what = to_string(control.error()),
         .remedy = exchange_remedy(control.error(), (*host)->config(),
                                   fmt::format("on {}: mrc ping --serve", *options.host))});
  }
  auto connection = connect(**host, *control);
  if (!connection) return not_tried(connection.error());
  if (const auto ready = await_ready(*control); !ready) return not_tried(ready.error());
  host::QueuePair& qp = *connection->qp;
  const profile::PathPlan& paths = (*host)->paths();
  const auto& profile = *paths.profiles()[paths.profile_to(qp.peer_place())];
  const std::vector<PathResult> results = probe_all(qp, profile.size(), options);
  std::vector<PathRow> rows;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const EvIndex ev(static_cast<std::uint8_t>(i));
    const fabric::PathChoice choice = paths.choice(ev, qp.peer_place());
    const bool named = paths.plan() && paths.profile_to(qp.peer_place()) == 0;
    rows.push_back({.plane = fabric::name_of(choice.plane),
                    .uplink = named ? fmt::format("up{}", choice.path) : "-",
                    .path = paths.path_name(ev, qp.peer_place()),
                    .result = results[i]});
  }
  std::ranges::stable_sort(rows, {},
                           [](const PathRow& row) { return std::pair(row.plane, row.uplink); });
  if (options.json) {
    print_json(rows, qp.peer_name());
  } else {
    print_rows(rows);
    say_what_is_wrong(rows, qp.peer_name());
  }
  const bool all_well =
      std::ranges::none_of(rows, [](const PathRow& row) { return row.result.rtts.empty(); });
  return all_well ? 0 : 1;
}

}  // namespace

void add_ping_command(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<PingOptions>();
  CLI::App* command = app.add_subcommand("ping", "Probe every path to a host");
  CLI::Option* host =
      command->add_option("host", options->host, "Host to probe")->type_name("HOST");
  command->add_flag("--serve", options->serve, "Respond to probes of this host")->excludes(host);
  command->add_option("-c,--count", options->count, "Probes per path")
      ->check(CLI::Range(1u, 100000u).description(""))
      ->type_name("N");
  command->add_option("-i,--interval", options->interval, "Interval between probes")
      ->check(CLI::Range(0.001, 60.0).description(""))
      ->type_name("SECONDS");
  command->add_option("-p,--port", options->port, "TCP port of the responding side")
      ->type_name("PORT");
  command->add_option("--config", options->config, "Configuration file")->type_name("openmrc.toml");
  command->add_flag("--json", options->json, "JSON output, with every round trip");
  command->footer(
      "Exit code: 0 every path responded, 1 some did not, 2 nothing was probed.\n\n"
      "  h1$ mrc ping --serve\n"
      "  h0$ mrc ping h1\n");
  command->callback([options, &exit_code] {
    if (!options->host && !options->serve) {
      throw CLI::ValidationError("host", "give a host to probe, or --serve");
    }
    host::catch_interrupts();
    exit_code = options->serve ? serve(*options) : ping(*options);
  });
}

}  // namespace openmrc::tools
