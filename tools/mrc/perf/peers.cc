// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/perf/peers.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "openmrc/host/clock.h"
#include "openmrc/host/exchange_server.h"
#include "openmrc/host/interrupt.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/perf/session.h"
#include "tools/mrc/perf/test_run.h"

namespace openmrc::tools {
namespace {

using host::Error;

constexpr Duration kClientWait = seconds(3600);

int exit_code_of(bool good) {
  if (host::interrupted()) return host::interrupt_exit_code();
  return good ? 0 : 1;
}

}  // namespace

int run_client(const PerfOptions& options) {
  auto session = PerfSession::connect(options);
  if (!session) {
    complain("perf", session.error());
    return exit_code_of(false);
  }
  return exit_code_of(run_session(**session, options));
}

namespace {

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

}  // namespace

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

}  // namespace openmrc::tools
