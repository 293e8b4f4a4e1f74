// SPDX-License-Identifier: BSD-3-Clause
// Threads that post to queue pairs of one shard: what all of them complete in a second, against one
// thread alone, and how evenly the shard serves them. Two hosts on the loopback interface; every
// thread has a queue pair and a completion queue of its own and keeps a few writes outstanding.
//
//   post_threads [--threads N] [--bytes N] [--rounds N] [--check] [--json]
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "openmrc/base/check.h"
#include "openmrc/host/host.h"

namespace {

using namespace openmrc;
using host::Host;
using host::QueuePair;

struct Options {
  unsigned threads = 8;
  std::size_t bytes = 64;
  unsigned rounds = 5;
  bool check = false;
  bool json = false;
};

constexpr unsigned kOutstanding = 16;
constexpr auto kRound = std::chrono::milliseconds(400);
// With --check: all threads together complete at least this share of what one does, and the slowest
// at least this share of the mean.
constexpr double kRateMin = 0.8;
constexpr double kSlowestMin = 0.5;

host::Config loopback() {
  host::Config config;
  config.name = "here";
  config.ports = {{.interface = "lo", .address = wire::Ipv6Address::of({0, 0, 0, 0, 0, 0, 0, 1})}};
  config.transport.udp_port = wire::UdpPort(24'793);
  config.wire.udp_port = config.transport.udp_port;
  config.transport.congestion = {.algorithm = profile::CongestionAlgorithm::kFixed,
                                 .base_rtt = milliseconds(1),
                                 .window = ByteCount(1 << 20)};
  config.metrics.publish = false;
  return config;
}

std::unique_ptr<Host> open_host() {
  auto opened = Host::open(loopback());
  if (opened) return *std::move(opened);
  std::fprintf(stderr, "post_threads: %s\n", to_string(opened.error()).c_str());
  std::exit(1);
}

// One thread's connection.
struct Lane {
  Lane(Host& from, Host& to, std::span<std::byte> memory)
      : data(memory.size()),
        completions(from.create_completion_queue()),
        ignored(to.create_completion_queue()),
        region(*to.register_memory(memory)),
        sender(*from.create_queue_pair({.writes = completions.get()})),
        receiver(*to.create_queue_pair({.writes = ignored.get()})) {
    OPENMRC_CHECK(sender->connect(receiver->connection_info()), "it can be connected");
    OPENMRC_CHECK(receiver->connect(sender->connection_info()), "it can be connected");
  }

  void post() {
    const host::RemoteMemory remote = region->remote();
    const auto posted = sender->post_write(
        {.data = data, .remote_address = remote.address, .rkey = RKey(remote.rkey)});
    OPENMRC_CHECK(posted, "there is room for a write");
  }
  void run(const std::atomic<bool>& stop) {
    completed = 0;
    unsigned outstanding = 0;
    while (!stop.load(std::memory_order_relaxed) || outstanding > 0) {
      const bool more = !stop.load(std::memory_order_relaxed);
      for (; more && outstanding < kOutstanding; ++outstanding) post();
      std::array<host::Completion, kOutstanding> done;
      const std::size_t count = completions->wait(done, seconds(5));
      OPENMRC_CHECK(count > 0, "a write completes within five seconds");
      outstanding -= static_cast<unsigned>(count);
      completed += more ? count : 0;
    }
  }

  std::vector<std::byte> data;
  std::unique_ptr<host::CompletionQueue> completions;
  std::unique_ptr<host::CompletionQueue> ignored;
  std::unique_ptr<host::MemoryRegion> region;
  std::unique_ptr<QueuePair> sender;
  std::unique_ptr<QueuePair> receiver;
  std::uint64_t completed = 0;
};

using Lanes = std::span<const std::unique_ptr<Lane>>;

// Writes a second of each lane.
std::vector<double> measure(Lanes lanes) {
  std::atomic<bool> stop = false;
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::jthread> threads;
  threads.reserve(lanes.size());
  for (const auto& lane : lanes) threads.emplace_back([&] { lane->run(stop); });
  std::this_thread::sleep_for(kRound);
  stop = true;
  const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - start;
  threads.clear();
  std::vector<double> rates;
  for (const auto& lane : lanes) {
    rates.push_back(static_cast<double>(lane->completed) / lasted.count());
  }
  return rates;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const auto value = [&] { return i + 1 < argc ? std::strtoul(argv[++i], nullptr, 10) : 0; };
    if (std::strcmp(argv[i], "--check") == 0) {
      options.check = true;
    } else if (std::strcmp(argv[i], "--json") == 0) {
      options.json = true;
    } else if (std::strcmp(argv[i], "--threads") == 0) {
      options.threads = static_cast<unsigned>(value());
    } else if (std::strcmp(argv[i], "--bytes") == 0) {
      options.bytes = value();
    } else if (std::strcmp(argv[i], "--rounds") == 0) {
      options.rounds = static_cast<unsigned>(value());
    } else {
      options.threads = 0;
    }
  }
  if (options.threads != 0 && options.bytes != 0 && options.rounds != 0) return options;
  std::fprintf(stderr,
               "usage: post_threads [--threads N] [--bytes N] [--rounds N] [--check] [--json]\n");
  std::exit(2);
}

struct Measured {
  double alone = 0;    // writes a second of one thread
  double ratio = 0;    // what all complete, of that
  double slowest = 0;  // of the mean
};

Measured measure(Lanes lanes, unsigned rounds) {
  std::vector<double> alone;
  std::vector<double> ratios;
  std::vector<double> slowest;
  (void)measure(lanes);
  for (unsigned i = 0; i < rounds; ++i) {
    alone.push_back(measure(lanes.first(1))[0]);
    const auto rates = measure(lanes);
    const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
    ratios.push_back(sum / alone.back());
    slowest.push_back(std::ranges::min(rates) * static_cast<double>(rates.size()) / sum);
  }
  return {.alone = median(alone), .ratio = median(ratios), .slowest = median(slowest)};
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const auto from = open_host();
  const auto to = open_host();
  std::vector<std::byte> memory(options.bytes);
  std::vector<std::unique_ptr<Lane>> lanes;
  for (unsigned i = 0; i < options.threads; ++i) {
    lanes.push_back(std::make_unique<Lane>(*from, *to, memory));
  }
  const Measured found = measure(lanes, options.rounds);
  std::printf(
      options.json
          ? R"({"bytes": %zu, "one_thread": %.0f, "threads": %u, "ratio": %.3f, "slowest": %.3f})"
            "\n"
          : "writes of %zu bytes, 1 thread: %.0f/s; %u threads: %.2f of it; slowest "
            "thread: %.2f of the mean\n",
      options.bytes, found.alone, options.threads, found.ratio, found.slowest);
  if (options.check && (found.ratio < kRateMin || found.slowest < kSlowestMin)) {
    std::fprintf(stderr, "post_threads: limits are %.2f and %.2f\n", kRateMin, kSlowestMin);
    return 1;
  }
  return 0;
}
