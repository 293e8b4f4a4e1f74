// SPDX-License-Identifier: BSD-3-Clause
// mrcd: the node's agent. It holds the profiles that a controller sets, and the processes that use
// them hear from it what changes.
#include <fmt/core.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "openmrc/agent/activation.h"
#include "openmrc/agent/admission.h"
#include "openmrc/agent/agent.h"
#include "openmrc/agent/agent_server.h"
#include "openmrc/agent/agent_state_file.h"
#include "openmrc/agent/durable_file.h"
#include "openmrc/agent/profiles/profile_store.h"
#include "openmrc/host/address_text.h"
#include "openmrc/host/config.h"
#include "openmrc/host/path_planning.h"
#include "openmrc/prober/map_metrics.h"
#include "tools/mrcd/denying.h"
#include "tools/mrcd/page_server.h"
#include "tools/mrcd/pages.h"

namespace openmrc::tools {
namespace {

using host::Error;

struct Options {
  std::string socket = libmrc::agent_socket_path();
  std::string state = "/var/lib/openmrc/mrcd.json";
  std::optional<std::string> config{};
  std::optional<std::string> listen{};  // an address; empty: kListenDefault
};

constexpr std::string_view kListenDefault = "127.0.0.1:9917";

volatile std::sig_atomic_t g_ending = 0;
void end(int /*signal*/) { g_ending = 1; }

// A call that waits returns early.
void catch_signals() {
  struct sigaction action{};
  action.sa_handler = end;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaction(signal, &action, nullptr);
}
// A signal between the look at the flag and the wait is noticed after this time.
constexpr int kWaitMilliseconds = 1000;
// Verdicts are looked at this often.
constexpr int kDenyMilliseconds = 200;
// Beside the clients': standard streams, the listener, epoll, the state file, scrapes, some to
// spare.
constexpr rlim_t kOwnDescriptors = 64;

int complain(const Error& error) {
  fmt::print(stderr, "mrcd: {}\n", error.what);
  if (!error.remedy.empty()) fmt::print(stderr, "  fix: {}\n", error.remedy);
  return 1;
}

Result<host::Config, Error> load(const Options& options) {
  auto config = host::load_config(options.config);
  if (config) return *std::move(config);
  return failure(Error{.what = to_string(config.error()),
                       .remedy = "see openmrc.toml(5); --config or $OPENMRC_CONFIG name the file"});
}

void warn(const std::string& what) { fmt::print(stderr, "mrcd: warning: {}\n", what); }

Result<void, Error> restore(const std::string& file, libmrc::ProfileStore& store) {
  const auto loaded = libmrc::load_state(file, store);
  if (!loaded) return failure(loaded.error());
  if (!loaded->found) warn(file + " does not exist yet: starting without profiles");
  for (const std::string& each : loaded->left_out) {
    warn("left out, because the device has changed: " + each);
  }
  if (const auto saves = libmrc::check_replaceable(file); !saves) {
    warn(fmt::format("changes will be refused: {}; to fix: {}", saves.error().what,
                     saves.error().remedy));
  }
  return {};
}

// Every client has a descriptor, every publisher two. What cannot be had is noticed by them, not
// here.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  constexpr rlim_t kNeeded =
      libmrc::kClientsMax + 2 * libmrc::kPublisherLimits.clients_max + kOwnDescriptors;
  if (limit.rlim_cur >= kNeeded) return;
  limit.rlim_cur = std::min(kNeeded, limit.rlim_max);
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &limit));
}

// Until a signal comes. `denying` may be none.
int serve(libmrc::AgentServer& server, Denying* denying, const prober::Prober* prober) {
  const int wait = denying != nullptr ? kDenyMilliseconds : kWaitMilliseconds;
  while (g_ending == 0) {
    if (!server.serve_once(wait)) return complain({.what = "cannot wait for clients"});
    if (denying == nullptr) continue;
    if (const auto done = denying->step(prober, server); !done) warn(done.error());
  }
  return 0;
}

// The socket that the service manager has passed, or else one of our own.
Result<libmrc::AgentServer, Error> open_server(const std::string& path, libmrc::Agent& agent) {
  auto passed = libmrc::take_activation_socket();
  if (!passed) return failure(std::move(passed.error()));
  if (*passed) return libmrc::AgentServer::adopt(std::move(**passed), agent);
  return libmrc::AgentServer::open(path, agent);
}

// The one of the command line, or else of the configuration; empty: none.
std::string listen_address(const Options& options, const host::Config& config) {
  if (!options.listen) return config.agent.listen;
  return options.listen->empty() ? std::string(kListenDefault) : *options.listen;
}

// Nothing if it is off.
Result<std::unique_ptr<PageServer>, Error> open_pages(const std::string& address,
                                                      std::vector<Page> pages) {
  if (address.empty()) return nullptr;
  if (!host::is_listen_address(address)) {
    return failure(Error{.what = "--listen: " + address + " is no address and port",
                         .remedy = "such as 127.0.0.1:9917, [::1]:9917 or [::]:9917"});
  }
  return PageServer::open(address, std::move(pages));
}

// Nothing if it is off.
Result<std::unique_ptr<prober::Prober>, Error> start_prober(const host::Config& config) {
  if (!config.mapper.enabled) return nullptr;
  return prober::Prober::start(config);
}

int run(const Options& options) {
  const auto config = load(options);
  if (!config) return complain(config.error());
  const auto paths = host::plan_paths(*config);
  if (!paths) return complain(paths.error());
  libmrc::ProfileStore store({.planes = config->ports.size()}, paths->profiles().front());
  if (const auto restored = restore(options.state, store); !restored) {
    return complain(restored.error());
  }

  libmrc::Agent::Names names{.host = config->name, .version = OPENMRC_VERSION};
  for (const datapath::Port& port : config->ports) names.interfaces.push_back(port.interface);
  const auto save = [&] {
    libmrc::Outcome saved = libmrc::save_state(options.state, store);
    if (!saved.ok()) warn(saved.why);
    return saved;
  };
  libmrc::Agent agent(store, std::move(names), save);
  raise_descriptor_limit();
  catch_signals();
  auto server = open_server(options.socket, agent);
  if (!server) return complain(server.error());
  auto denying = Denying::open(options.state + ".denied", config->mapper, store);
  if (!denying) return complain(denying.error());
  const auto prober = start_prober(*config);
  if (!prober) return complain(prober.error());
  if (*prober) {
    agent.also_show([from = prober->get()] { return prober::samples_of(*from->report()); });
  }
  const std::string address = listen_address(options, *config);
  const auto pages = pages_of(agent, prober->get(), config->metrics);
  const auto served = open_pages(address, pages);
  if (!served) return complain(served.error());
  fmt::print("mrcd: serves {} with {} ports at {}\n", config->name, config->ports.size(),
             options.socket);
  for (const Page& each : pages) {
    if (*served) fmt::print("mrcd: http://{}{}\n", address, each.path);
  }
  std::cout.flush();
  return serve(*server, *denying ? &**denying : nullptr, prober->get());
}

int parse_and_run(int argc, char** argv) {
  Options options;
  CLI::App app{"mrcd: the agent of a node, which holds the profiles of its controller", "mrcd"};
  app.set_version_flag("--version", "mrcd " OPENMRC_VERSION);
  app.add_option("--socket", options.socket, "Socket to listen on; default $OPENMRC_AGENT")
      ->type_name("PATH")
      ->capture_default_str();
  app.add_option("--state", options.state, "State file, kept across restarts")
      ->type_name("FILE")
      ->capture_default_str();
  app.add_option("--config", options.config,
                 "Configuration file; default $OPENMRC_CONFIG or /etc/openmrc/openmrc.toml")
      ->type_name("FILE");
  app.add_option("--listen", options.listen,
                 "Serve metrics and what the mapper finds over HTTP; default 127.0.0.1:9917")
      ->type_name("ADDRESS:PORT")
      ->expected(0, 1);
  app.footer("Controllers use it by libmrc-ctl or by `mrc ctl`.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;  // 0 for --help and --version
  }
  return run(options);
}

}  // namespace
}  // namespace openmrc::tools

int main(int argc, char** argv) try {
  return openmrc::tools::parse_and_run(argc, argv);
} catch (const std::exception& error) {
  std::cerr << "mrcd: " << error.what() << '\n';
  return 1;
}
