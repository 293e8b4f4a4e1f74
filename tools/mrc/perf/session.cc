// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/perf/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/mrc/exchange_remedy.h"

namespace openmrc::tools {
namespace {

using host::Error;
using nlohmann::json;

constexpr int kVersion = 1;
constexpr std::size_t kSlotsMax = 128;                    // messages in a lane's memory
constexpr std::uint32_t kQueuePairsMax = 16384;           // as in perftest
constexpr std::size_t kMemoryMax = std::size_t{8} << 30;  // of a test, on one side
constexpr std::size_t kCreditBytes = 64;                  // behind a lane's messages
constexpr std::string_view name(PerfTest test) {
  return test == PerfTest::kWriteBandwidth ? "write-bw" : "write-lat";
}

std::string plan_text(const PerfPlan& plan) {
  return json{
      {"openmrc_perf", kVersion},      {"test", name(plan.test)},         {"size", plan.size},
      {"iterations", plan.iterations}, {"queue_pairs", plan.queue_pairs}, {"depth", plan.depth},
      {"verify", plan.verify},         {"both_ways", plan.both_ways},     {"sleeps", plan.sleeps}}
      .dump();
}

Result<PerfPlan, Error> plan_from(const std::string& text, PerfTest expected) {
  const json from = json::parse(text, nullptr, false);
  const auto wrong = [](std::string what) {
    return failure(Error{.what = std::move(what), .remedy = "use the same mrc on both hosts"});
  };
  if (!from.is_object() || from.value("openmrc_perf", 0) != kVersion) {
    return wrong("the client runs an incompatible mrc perf version");
  }
  const std::string test = from.value("test", "");
  if (test != name(expected)) {
    return failure(Error{
        .what = fmt::format("the client requests {}, this server runs {}", test, name(expected)),
        .remedy = "start both with the same test"});
  }
  PerfPlan plan{.test = expected,
                .size = from.value("size", 0u),
                .iterations = from.value("iterations", std::uint64_t{0}),
                .seconds = from.value("seconds", 0.0),
                .queue_pairs = from.value("queue_pairs", 0u),
                .depth = from.value("depth", 0u),
                .verify = from.value("verify", false),
                .both_ways = from.value("both_ways", false),
                .sleeps = from.value("sleeps", false)};
  if (plan.size == 0 || plan.size > (1u << 30) || plan.queue_pairs == 0 ||
      plan.queue_pairs > kQueuePairsMax || plan.depth == 0 || plan.depth > 15000) {
    return wrong("the client's parameters are out of range");
  }
  return plan;
}

Error no_exchange(const host::ExchangeError& error, std::string remedy) {
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
  return make_lanes();
}

Result<void, Error> PerfSession::make_lanes() {
  slots_ = plan_.verify ? std::min<std::size_t>(plan_.depth, kSlotsMax) : 1;
  const std::size_t lane_bytes = slots_ * plan_.size + kCreditBytes;
  // What is not verified may share its memory.
  const std::size_t places = plan_.verify ? plan_.queue_pairs : 1;
  if (2 * lane_bytes > kMemoryMax / places) {
    return failure(
        Error{.what = fmt::format("{} queue pairs x {} messages of {} bytes need more memory "
                                  "than a test may have ({} GiB)",
                                  places, slots_, plan_.size, kMemoryMax >> 30),
              .remedy = "use a smaller size, depth or number of queue pairs"});
  }
  memory_.resize(2 * lane_bytes * places);
  auto region = host_->register_memory(memory_);
  if (!region) return failure(std::move(region.error()));
  region_ = std::move(*region);
  for (std::uint32_t i = 0; i < plan_.queue_pairs; ++i) {
    auto qp = host_->create_queue_pair({.writes = completions_.get()});
    if (!qp) return failure(std::move(qp.error()));
    const std::span<std::byte> own =
        std::span(memory_).subspan(i % places * 2 * lane_bytes, 2 * lane_bytes);
    lanes_.push_back({.qp = std::move(*qp),
                      .outgoing = own.first(lane_bytes),
                      .incoming = own.last(lane_bytes)});
  }
  return {};
}

std::string PerfSession::own_info() const {
  json infos = json::array();
  for (const PerfLane& lane : lanes_) {
    infos.push_back({{"queue_pair", json::parse(host::to_json(lane.qp->connection_info()))},
                     {"address", reinterpret_cast<std::uint64_t>(lane.incoming.data())}});
  }
  return json{{"lanes", infos}, {"memory", json::parse(host::to_json(region_->remote()))}}.dump();
}

Result<void, Error> PerfSession::join(const std::string& infos) {
  const json from = json::parse(infos, nullptr, false);
  if (from.is_object() && from.contains("error")) {
    return failure(Error{.what = "rejected by the server: " + from.value("error", std::string())});
  }
  if (!from.is_object() || !from.contains("lanes") || !from["lanes"].is_array() ||
      from["lanes"].size() != lanes_.size() || !from.contains("memory")) {
    return failure(Error{.what = "the peer sent no connection information for its queue pairs",
                         .remedy = "use the same mrc on both hosts"});
  }
  const auto memory = host::remote_memory_from(from["memory"].dump());
  if (!memory) return failure(no_exchange(memory.error(), {}));
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const json& lane = from["lanes"][i];
    if (!lane.is_object())
      return failure(Error{.what = "malformed connection information from the peer"});
    const auto info = host::connection_info_from(lane.value("queue_pair", json()).dump());
    if (!info) return failure(no_exchange(info.error(), {}));
    peer_name_ = info->host;
    lanes_[i].remote = lane.value("address", std::uint64_t{0});
    lanes_[i].remote_key = RKey(memory->rkey);
    if (auto connected = lanes_[i].qp->connect(*info); !connected) {
      return failure(std::move(connected.error()));
    }
  }
  return {};
}

Result<std::unique_ptr<PerfSession>, Error> PerfSession::serve(const PerfOptions& options,
                                                               host::ExchangeListener& listener,
                                                               Duration wait) {
  auto accepted = listener.accept(wait);
  if (!accepted) return failure(no_exchange(accepted.error(), {}));
  std::unique_ptr<PerfSession> session(new PerfSession);
  session->is_server_ = true;
  session->control_ = std::make_unique<host::ExchangeConnection>(std::move(*accepted));
  const auto refuse = [&](Error error) {
    (void)session->control_->send(json{{"error", error.what}}.dump());
    return failure(std::move(error));
  };
  const auto text = session->control_->receive(seconds(10));
  if (!text) return failure(no_exchange(text.error(), {}));
  auto plan = plan_from(*text, options.plan.test);
  if (!plan) return refuse(std::move(plan.error()));
  session->plan_ = *plan;
  if (auto opened = session->open_host(options); !opened) return refuse(std::move(opened.error()));
  const auto infos = session->control_->receive(seconds(30));
  if (!infos) return failure(no_exchange(infos.error(), {}));
  if (auto joined = session->join(*infos); !joined) return refuse(std::move(joined.error()));
  if (const auto sent = session->control_->send(session->own_info()); !sent) {
    return failure(no_exchange(sent.error(), {}));
  }
  return session;
}

Result<std::unique_ptr<PerfSession>, Error> PerfSession::connect(const PerfOptions& options) {
  std::unique_ptr<PerfSession> session(new PerfSession);
  session->plan_ = options.plan;
  if (auto opened = session->open_host(options); !opened) return failure(std::move(opened.error()));
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
  host::ExchangeConnection& control = *session->control_;
  if (const auto sent = control.send(plan_text(options.plan)); !sent) {
    return failure(no_exchange(sent.error(), {}));
  }
  if (const auto sent = control.send(session->own_info()); !sent) {
    return failure(no_exchange(sent.error(), {}));
  }
  const auto infos = control.receive(seconds(30));
  if (!infos) return failure(no_exchange(infos.error(), {}));
  if (auto joined = session->join(*infos); !joined) return failure(std::move(joined.error()));
  return session;
}

Result<void, Error> PerfSession::barrier(Duration timeout) {
  if (const auto sent = control_->send(R"({"ready":true})"); !sent) {
    return failure(no_exchange(sent.error(), {}));
  }
  const auto heard = control_->receive(timeout);
  if (!heard) return failure(no_exchange(heard.error(), {}));
  return {};
}

}  // namespace openmrc::tools
