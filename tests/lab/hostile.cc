// SPDX-License-Identifier: BSD-3-Clause
// A host with several peers, an honest peer, and one that means harm: it has been let in, so it
// knows all that a peer knows, and each of its packets is right; what it makes of them is not. For
// tests/lab/hostile.py. Runs in network namespaces of a lab, as root.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "openmrc/openmrc.h"
#include "openmrc/wire/field/connection_id.h"
#include "tests/lab/raw_packets.h"

namespace {

using namespace openmrc;

constexpr Duration kTimeout = seconds(20);
constexpr std::size_t kMemory = 1 << 20;
constexpr unsigned kReceives = 16384;  // posted on each queue pair
constexpr double kWarmUpSeconds = 0.5;

// ---- the victim ----

// Serves whoever comes, with as many queue pairs as they ask for, and keeps receives posted.
class Victim {
 public:
  Victim() : memory_(kMemory), host_(expect(Host::open(config()))) {
    region_ = expect(host_->register_memory(memory_));
    completions_ = host_->create_completion_queue();
  }

  [[noreturn]] void serve() {
    const ExchangeListener listener = expect(ExchangeListener::open(host_->config().exchange_port));
    std::thread([this] { repost(); }).detach();
    std::thread([this] { tell(); }).detach();
    fmt::print("{}\n", getpid());
    std::fflush(stdout);
    for (;;) {
      if (auto client = listener.accept(kTimeout)) welcome(*client);
    }
  }

 private:
  // With less room than usual, so that it is full soon.
  static Config config() {
    Config config = expect(load_config({}));
    config.transport.limits.early_immediates = 8192;
    return config;
  }

  void welcome(ExchangeConnection& client) {
    const auto line = client.receive(kTimeout);
    if (!line) return;
    const auto peers = expect(host::connection_infos_from(*line));
    std::vector<ConnectionInfo> own;
    for (const ConnectionInfo& peer : peers) own.push_back(connect(peer));
    expect(client.send(to_json(std::span<const ConnectionInfo>(own))));
    expect(client.send(to_json(region_->remote())));
  }

  ConnectionInfo connect(const ConnectionInfo& peer) {
    const std::lock_guard lock(mutex_);
    queue_pairs_.push_back(expect(host_->create_queue_pair({.writes = completions_.get()})));
    QueuePair& qp = *queue_pairs_.back();
    expect(qp.connect(peer));
    for (unsigned i = 0; i < kReceives; ++i) expect(qp.post_receive(queue_pairs_.size() - 1));
    return qp.connection_info();
  }

  void repost() {
    std::array<Completion, 64> completions;
    for (;;) {
      const std::size_t count = completions_->wait(completions, kTimeout);
      const std::lock_guard lock(mutex_);
      for (std::size_t i = 0; i < count; ++i) {
        if (completions[i].status != WorkStatus::kSuccess) continue;  // its queue pair is done
        (void)queue_pairs_[completions[i].id]->post_receive(completions[i].id);
      }
    }
  }

  // Prints its counters whenever a line is read; ends with the input.
  void tell() {
    for (std::string line; std::getline(std::cin, line);) {
      const core::Counters counters = host_->counters();
      std::string text;
      for (std::size_t i = 0; i < core::kCounterTable.size(); ++i) {
        const auto count = static_cast<core::Count>(i);
        text += fmt::format(R"({}"{}": {})", i == 0 ? "" : ", ", core::describe(count).name,
                            counters.of(count));
      }
      fmt::print("{{{}}}\n", text);
      std::fflush(stdout);
    }
    std::_Exit(0);
  }

  std::vector<std::byte> memory_;
  std::unique_ptr<Host> host_;
  std::unique_ptr<MemoryRegion> region_;
  std::unique_ptr<CompletionQueue> completions_;
  std::mutex mutex_;
  std::deque<std::unique_ptr<QueuePair>> queue_pairs_;
};

// ---- a peer, of either kind ----

struct PeerOptions {
  std::string victim;
  std::string kind;
  unsigned queue_pairs = 1;
  unsigned depth = 16;
  std::uint32_t size = 65536;
  std::optional<std::uint32_t> immediate;
  test::Pace pace;
};

// Queue pairs that are connected to the victim's.
struct Connected {
  explicit Connected(const PeerOptions& options)
      : memory(kMemory), host(expect(Host::open(expect(load_config({}))))) {
    completions = host->create_completion_queue();
    std::vector<ConnectionInfo> own;
    for (unsigned i = 0; i < options.queue_pairs; ++i) {
      queue_pairs.push_back(expect(host->create_queue_pair({.writes = completions.get()})));
      own.push_back(queue_pairs.back()->connection_info());
    }
    auto exchange =
        expect(ExchangeConnection::connect(options.victim, host->config().exchange_port, kTimeout));
    expect(exchange.send(to_json(std::span<const ConnectionInfo>(own))));
    peers = expect(host::connection_infos_from(expect(exchange.receive(kTimeout))));
    remote = expect(remote_memory_from(expect(exchange.receive(kTimeout))));
    for (std::size_t i = 0; i < peers.size(); ++i) expect(queue_pairs[i]->connect(peers[i]));
  }

  std::vector<std::byte> memory;
  std::unique_ptr<Host> host;
  std::unique_ptr<CompletionQueue> completions;
  std::vector<std::unique_ptr<QueuePair>> queue_pairs;
  std::vector<ConnectionInfo> peers;
  RemoteMemory remote{};
};

// ---- the honest one ----

// Writes, `depth` at a time or at a pace, and prints how many bytes a second arrived after a while.
void write_honestly(const PeerOptions& options) {
  using Clock = std::chrono::steady_clock;
  Connected peer(options);
  QueuePair& qp = *peer.queue_pairs[0];
  const auto begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  std::uint64_t posted = 0;
  std::uint64_t completed = 0;
  std::uint64_t completed_before = 0;
  double measured_from = 0;
  while (elapsed() < kWarmUpSeconds + options.pace.seconds) {
    if (measured_from == 0 && elapsed() >= kWarmUpSeconds) {
      measured_from = elapsed();
      completed_before = completed;
      fmt::print("measuring\n");
      std::fflush(stdout);
    }
    const auto allowed =
        options.pace.rate == 0
            ? completed + options.depth
            : static_cast<std::uint64_t>(elapsed() * static_cast<double>(options.pace.rate));
    for (; posted < std::min<std::uint64_t>(allowed, completed + options.depth); ++posted) {
      expect(qp.post_write({.data = std::span(peer.memory).first(options.size),
                            .remote_address = peer.remote.address,
                            .rkey = RKey(peer.remote.rkey),
                            .immediate = options.immediate}));
    }
    std::array<Completion, 64> completions;
    const std::size_t count = peer.completions->wait(completions, microseconds(500));
    for (std::size_t i = 0; i < count; ++i) {
      if (completions[i].status != WorkStatus::kSuccess) {
        throw std::runtime_error(qp.failure_text().value_or("a write failed"));
      }
      ++completed;
    }
  }
  fmt::print("{:.0f}\n", static_cast<double>((completed - completed_before) * options.size) /
                             (elapsed() - measured_from));
}

// ---- the other one ----

// What it sends on one queue pair.
struct Stream {
  Qpn to{};    // the victim's
  Qpn from{};  // its own
  Psn first{};
  std::uint16_t immediates_max = 0;
  std::int64_t window = 0;  // in packets
  std::int64_t sent = 0;
};

class Hostile {
 public:
  Hostile(const Connected& peer, std::string kind) : peer_(peer), kind_(std::move(kind)) {
    for (std::size_t i = 0; i < peer.peers.size(); ++i) {
      const ConnectionInfo own = peer.queue_pairs[i]->connection_info();
      streams_.push_back({.to = Qpn(peer.peers[i].qpn),
                          .from = Qpn(own.qpn),
                          .first = Psn(own.psn),
                          .immediates_max = peer.peers[i].max_wimm,
                          .window = peer.peers[i].mpr * std::int64_t{128}});
    }
    own_addresses_ = peer.queue_pairs[0]->connection_info().addresses;
  }

  // By all planes in turn.
  wire::Packet next() {
    const std::size_t plane = made_ % own_addresses_.size();
    wire::Packet packet{
        .route = wire::Ipv6Route{.source = own_addresses_[plane],
                                 .destination = peer_.peers[0].addresses[plane],
                                 .ev = Ev(static_cast<std::uint32_t>(made_) | 0xc000)},
        .traffic_class = wire::TrafficClass::kNoTrim};
    packet.transport.body = body(streams_[made_ % streams_.size()]);
    ++made_;
    return packet;
  }

 private:
  wire::RdmaWrite write(const Stream& stream, std::int64_t index) const {
    static constexpr std::array<std::byte, 4> kPayload{};
    return {.destination_qp = stream.to,
            .psn = stream.first + index,
            .ack_request = true,
            .part = wire::MessagePart::only(),
            .meth = {.rqmsn = {}, .msn = Msn{} + index},
            .sent = wire::TxTimestamp{},
            .reth = {.virtual_address = peer_.remote.address,
                     .rkey = RKey(peer_.remote.rkey),
                     .dma_length = kPayload.size()},
            .payload = wire::Payload::of_bytes(kPayload)};
  }
  wire::RdmaWrite with_immediate(const Stream& stream, std::int64_t index) const {
    wire::RdmaWrite write = this->write(stream, index);
    write.part = wire::MessagePart::only(wire::Immediate(1));
    write.meth.rqmsn = Rqmsn{} + index;
    return write;
  }

  wire::Body body(Stream& stream) {
    const std::int64_t n = stream.sent++;
    const auto id = static_cast<std::uint16_t>(n);
    // Every message has one packet of four bytes, and asks for a SACK.
    if (kind_ == "tiny") return write(stream, n);
    if (kind_ == "immediates") return with_immediate(stream, n);
    // Every other packet of the window, again and again; the first is never sent.
    if (kind_ == "holes") return write(stream, 1 + 2 * n % (stream.window - 1));
    // As many immediates as may wait, and they wait for ever.
    if (kind_ == "early") return with_immediate(stream, 1 + n % (stream.immediates_max - 1));
    // As many as may wait: the last one first, so that each of the others has its place far from
    // both ends; then the one that all wait for, and so on.
    if (kind_ == "reordered") {
      const std::int64_t many = stream.immediates_max / 2;  // the next ones may overtake the last
      const std::int64_t at = n % many;
      return with_immediate(stream, n - at + (at == 0 ? many - 1 : at == many - 1 ? 0 : at));
    }
    if (kind_ == "probes") {
      return wire::ReliabilityProbe{.destination_qp = stream.to,
                                    .peth = {.id = wire::ProbeId(id),
                                             .spdcid = wire::connection_id(stream.from),
                                             .dpdcid = wire::connection_id(stream.to)}};
    }
    if (kind_ == "trims") {
      if (n % 64 == 0) return write(stream, n / 64);  // who sends nothing is not counted
      return wire::TrimmedWrite{.place = wire::TrimPlace::kLastHop,
                                .destination_qp = stream.to,
                                .psn = stream.first + (n / 64 + 1),
                                .meth = {.rqmsn = {}, .msn = Msn{} + (n / 64 + 1)},
                                .sent = wire::TxTimestamp{}};
    }
    wire::EndpointRequest request{.id = wire::EndpointRequestId(id)};
    if (kind_ == "port-status") {
      request.erth = {.op = wire::EndpointOp::kPortStatusUpdate,
                      .port_status_mask = n % 2 == 0 ? 0b10u : 0xffffffffu};
    }
    return request;  // ev-probes
  }

  const Connected& peer_;
  std::string kind_;
  std::vector<Stream> streams_;
  std::vector<wire::Ipv6Address> own_addresses_;
  std::uint64_t made_ = 0;
};

void attack(const PeerOptions& options) {
  const Connected peer(options);
  Hostile hostile(peer, options.kind);
  test::RawSender sender;
  fmt::print("{}\n", test::at_pace(options.pace, [&] { sender.send(hostile.next()); }));
}

int run(int argc, char** argv) {
  CLI::App app{"A host, its honest peer, and one that means harm"};
  app.require_subcommand(1);
  PeerOptions options;
  app.add_subcommand("victim", "Serves all that connect; prints its process number")->callback([] {
    Victim().serve();
  });
  const auto add_peer = [&](const char* name, const char* text) {
    CLI::App* peer = app.add_subcommand(name, text);
    peer->add_option("victim", options.victim)->required();
    peer->add_option("--queue-pairs", options.queue_pairs);
    peer->add_option("--seconds", options.pace.seconds)->required();
    peer->add_option("--rate", options.pace.rate, "How many in a second");
    return peer;
  };
  CLI::App* write = add_peer("write", "Writes honestly; prints bytes in a second");
  write->add_option("--size", options.size)->check(CLI::Range(std::size_t{1}, kMemory));
  write->add_option("--depth", options.depth);
  write->add_option("--immediate", options.immediate, "Of each message");
  write->callback([&] { write_honestly(options); });
  CLI::App* hostile = add_peer("attack", "Means harm; prints how many packets were sent");
  hostile->add_option("--kind", options.kind)
      ->required()
      ->check(CLI::IsMember({"tiny", "immediates", "holes", "early", "reordered", "probes",
                             "ev-probes", "trims", "port-status"}));
  hostile->callback([&] { attack(options); });
  CLI11_PARSE(app, argc, argv);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(argc, argv);
} catch (const std::exception& error) {
  fmt::print(stderr, "mrc-hostile: {}\n", error.what());
  return 1;
}
