// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/perf/session.h"

#include <fmt/core.h>

#include <new>
#include <utility>

#include "openmrc/text/units.h"
#include "tools/mrc/exchange_remedy.h"

namespace openmrc::tools {
namespace {

using host::Error;

// Of one queue pair, on a machine that is busy.
constexpr Duration kConnectMax = milliseconds(5);
constexpr Duration kAnswerTimeout = seconds(30);  // the server may be opening its ports
constexpr Duration kRefusalTimeout = milliseconds(200);
constexpr Duration kFarewellTimeout = milliseconds(100);

Error no_exchange(const host::ExchangeError& error, std::string remedy = {}) {
  return {.what = to_string(error), .remedy = std::move(remedy)};
}

Result<host::Config, Error> configure(const PerfOptions& options) {
  auto config = host::load_config(options.config);
  if (!config) {
    std::string all;
    for (const host::ConfigError& error : config.error()) {
      all += (all.empty() ? "" : "\n") + to_string(error);
    }
    return failure(Error{.what = all,
                         .remedy = "in a lab: sudo mrc lab exec HOST mrc perf ...; "
                                   "otherwise write an openmrc.toml (man openmrc.toml)"});
  }
  if (options.progress) config->progress = *options.progress;
  if (options.shards) config->shards = *options.shards;
  if (options.burst) config->transport.burst = static_cast<std::uint8_t>(*options.burst);
  if (options.mtu) config->transport.mtu = *options.mtu;
  if (options.port) config->exchange_port = *options.port;
  return std::move(*config);
}

}  // namespace

Result<void, Error> PerfSession::open_host(const PerfOptions& options) {
  auto config = configure(options);
  if (!config) return failure(std::move(config.error()));
  auto host = host::Host::open(std::move(*config));
  if (!host) return failure(std::move(host.error()));
  host_ = std::move(*host);
  completions_ = host_->create_completion_queue();
  return {};
}

Result<void, Error> PerfSession::make_lanes() {
  const PerfLayout layout = layout_of(plan_);
  slots_ = layout.slots;
  try {
    memory_.resize(layout.bytes());
  } catch (const std::bad_alloc&) {
    return failure(Error{.what = fmt::format("this host has no {} of memory for the test",
                                             text::format_size(layout.bytes()))});
  }
  auto region = host_->register_memory(memory_);
  if (!region) return failure(std::move(region.error()));
  region_ = std::move(*region);
  for (std::uint32_t i = 0; i < plan_.queue_pairs; ++i) {
    auto qp = host_->create_queue_pair({.writes = completions_.get()});
    if (!qp) return failure(std::move(qp.error()));
    const std::span<std::byte> own =
        std::span(memory_).subspan(i % layout.lanes * 2 * layout.lane_bytes, 2 * layout.lane_bytes);
    lanes_.push_back({.qp = std::move(*qp),
                      .outgoing = own.first(layout.lane_bytes),
                      .incoming = own.last(layout.lane_bytes)});
  }
  return {};
}

std::array<std::string, 2> PerfSession::own_info() const {
  std::vector<host::ConnectionInfo> queue_pairs;
  std::vector<host::RemoteMemory> memories;
  for (const PerfLane& lane : lanes_) {
    queue_pairs.push_back(lane.qp->connection_info());
    memories.push_back({.address = reinterpret_cast<std::uint64_t>(lane.incoming.data()),
                        .length = lane.incoming.size(),
                        .rkey = region_->remote().rkey});
  }
  return {host::to_json(std::span<const host::ConnectionInfo>(queue_pairs)),
          host::to_json(std::span<const host::RemoteMemory>(memories))};
}

Result<void, Error> PerfSession::join(const std::string& queue_pairs, const std::string& memories) {
  const auto infos = host::connection_infos_from(queue_pairs);
  if (!infos) return failure(no_exchange(infos.error()));
  const auto regions = host::remote_memories_from(memories);
  if (!regions) return failure(no_exchange(regions.error()));
  if (infos->size() != lanes_.size() || regions->size() != lanes_.size()) {
    return failure(Error{.what = fmt::format("the peer describes {} queue pairs and {} memory "
                                             "regions; the test has {}",
                                             infos->size(), regions->size(), lanes_.size())});
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    PerfLane& lane = lanes_[i];
    const host::RemoteMemory& region = (*regions)[i];
    if (region.length < lane.outgoing.size()) {
      return failure(Error{.what = "the peer's memory is too small for the messages of the test"});
    }
    peer_name_ = (*infos)[i].host;
    lane.remote = region.address;
    lane.remote_key = RKey(region.rkey);
    if (auto connected = lane.qp->connect((*infos)[i]); !connected) {
      return failure(std::move(connected.error()));
    }
  }
  return {};
}

Result<std::unique_ptr<host::ExchangeSecret>, Error> PerfSession::load_secret(
    const PerfOptions& options) {
  if (!options.secret_file) return nullptr;
  auto secret = host::ExchangeSecret::load(*options.secret_file);
  if (!secret) return failure(no_exchange(secret.error()));
  return std::make_unique<host::ExchangeSecret>(*std::move(secret));
}

Result<PerfPlan, host::ExchangeError> PerfSession::check_plan(const PerfOptions& options,
                                                              const std::string& line) {
  auto plan = plan_from(line);
  if (!plan) return plan;
  if (plan->test != options.plan.test) {
    return failure(
        host::ExchangeError{.fault = host::ExchangeFault::kRefused,
                            .what = fmt::format("the client requests {}, this server runs {}",
                                                name(plan->test), name(options.plan.test))});
  }
  if (auto fits = check_memory(*plan, options.memory_max); !fits) {
    return failure(std::move(fits.error()));
  }
  return plan;
}

Result<std::unique_ptr<PerfSession>, ServeFailure> PerfSession::serve(
    const PerfOptions& options, host::ExchangeRequest client) {
  std::unique_ptr<PerfSession> session(new PerfSession);
  session->is_server_ = true;
  session->control_ = std::make_unique<host::ExchangeConnection>(std::move(client.connection));
  const auto refuse = [&](Error error, bool is_own = false) {
    (void)session->control_->send(host::refusal_line(error.what));
    return failure(ServeFailure{.error = std::move(error), .is_own = is_own});
  };
  const auto plan = check_plan(options, client.lines[0]);
  if (!plan) return refuse(no_exchange(plan.error()));
  session->plan_ = *plan;
  if (auto opened = session->open_host(options); !opened) {
    return refuse(std::move(opened.error()), true);
  }
  if (auto made = session->make_lanes(); !made) return refuse(std::move(made.error()));
  if (auto joined = session->join(client.lines[1], client.lines[2]); !joined) {
    return refuse(std::move(joined.error()));
  }
  for (const std::string& line : session->own_info()) {
    if (const auto sent = session->control_->send(line); !sent) {
      return refuse(no_exchange(sent.error()));
    }
  }
  return session;
}

Result<std::string, host::ExchangeError> PerfSession::receive_answer(Duration timeout) {
  auto line = control_->receive(timeout);
  if (!line) return line;
  if (const auto reason = host::refusal_in(*line)) {
    return failure(host::ExchangeError{.fault = host::ExchangeFault::kRefused,
                                       .what = "rejected by the server: " + *reason});
  }
  return line;
}

Result<void, host::ExchangeError> PerfSession::request(const host::ExchangeSecret* secret,
                                                       std::span<const std::string> info) {
  if (secret != nullptr) {
    if (auto known = host::authenticate(*control_, *secret, kAnswerTimeout); !known) return known;
  }
  auto sent = control_->send(to_json(plan_));
  for (const std::string& line : info) {
    if (sent) sent = control_->send(line);
  }
  if (sent) return sent;
  // A server that refuses says so and closes, possibly while we still send.
  const auto answer = receive_answer(kRefusalTimeout);
  const bool refused = !answer && answer.error().fault == host::ExchangeFault::kRefused;
  return failure(refused ? answer.error() : sent.error());
}

Result<std::unique_ptr<PerfSession>, Error> PerfSession::connect(const PerfOptions& options) {
  if (auto fits = check_memory(options.plan, options.memory_max); !fits) {
    return failure(no_exchange(fits.error()));
  }
  const auto secret = load_secret(options);
  if (!secret) return failure(secret.error());
  std::unique_ptr<PerfSession> session(new PerfSession);
  session->plan_ = options.plan;
  if (auto opened = session->open_host(options); !opened) return failure(std::move(opened.error()));
  if (auto made = session->make_lanes(); !made) return failure(std::move(made.error()));
  // Before the server waits for it: of many queue pairs it takes a while.
  const auto info = session->own_info();
  const host::Config& config = session->host_->config();
  auto connected = host::ExchangeConnection::connect(*options.server, config.exchange_port,
                                                     config.exchange_timeout);
  if (!connected) {
    std::string start = fmt::format("start the server on {} first: mrc perf {}", *options.server,
                                    name(options.plan.test));
    return failure(no_exchange(connected.error(),
                               exchange_remedy(connected.error(), config, std::move(start))));
  }
  session->control_ = std::make_unique<host::ExchangeConnection>(std::move(*connected));
  if (const auto asked = session->request(secret->get(), info); !asked) {
    return failure(no_exchange(asked.error()));
  }
  const Duration timeout = kAnswerTimeout + session->connect_max();
  const auto queue_pairs = session->receive_answer(timeout);
  if (!queue_pairs) return failure(no_exchange(queue_pairs.error()));
  const auto memories = session->receive_answer(timeout);
  if (!memories) return failure(no_exchange(memories.error()));
  if (auto joined = session->join(*queue_pairs, *memories); !joined) {
    return failure(std::move(joined.error()));
  }
  return session;
}

Error PerfSession::interrupted() {
  (void)control_->send(host::refusal_line("interrupted"), kFarewellTimeout);
  return {.what = fmt::format("interrupted during the test with {}", peer_name_)};
}

Error PerfSession::ended_by_peer(std::string_view reason) const {
  return {.what = fmt::format("{} ended the test: {}", peer_name_, reason)};
}

Duration PerfSession::connect_max() const {
  return kConnectMax * static_cast<std::int64_t>(lanes_.size());
}

Result<void, Error> PerfSession::barrier(Duration timeout) {
  if (const auto sent = control_->send(R"({"ready":true})"); !sent) {
    return failure(no_exchange(sent.error()));
  }
  // The other side may still connect its queue pairs.
  const auto heard = control_->receive(timeout + connect_max());
  if (!heard) return failure(no_exchange(heard.error()));
  return {};
}

}  // namespace openmrc::tools
