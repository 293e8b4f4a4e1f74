// SPDX-License-Identifier: BSD-3-Clause
// What queue pairs cost in the host runtime, above what they cost in the core (core_scale): a host
// on the loopback interface with N queue pairs, connected with each other in pairs.
//
//   host_scale N
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/heap_count.h"
#include "openmrc/base/check.h"
#include "openmrc/host/host.h"

namespace {

using namespace openmrc;
using host::Host;
using host::QueuePair;

host::Config loopback() {
  host::Config config;
  config.name = "here";
  config.ports = {{.interface = "lo", .address = wire::Ipv6Address::of({0, 0, 0, 0, 0, 0, 0, 1})}};
  config.transport.udp_port = wire::UdpPort(24'792);
  config.wire.udp_port = config.transport.udp_port;
  config.progress = host::Progress::kCaller;
  config.metrics.publish = false;
  return config;
}

std::size_t live() { return bench::heap_count().live_bytes; }

// Of this program; what getrusage() reports begins with the memory of whoever has started it.
unsigned long peak_kib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  unsigned long kib = 0;
  while (status >> word) {
    if (word == "VmHWM:") status >> kib;
  }
  return kib;
}

int report(std::uint32_t count) {
  const std::size_t empty = live();
  auto opened = Host::open(loopback());
  if (!opened) {
    std::fprintf(stderr, "host_scale: %s\n", to_string(opened.error()).c_str());
    return 1;
  }
  const std::unique_ptr<Host> host = *std::move(opened);
  const auto completions = host->create_completion_queue();
  const std::size_t without = live();
  std::vector<std::unique_ptr<QueuePair>> all;
  all.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    auto made = host->create_queue_pair({.writes = completions.get()});
    OPENMRC_CHECK(made, "there is room for it");
    all.push_back(*std::move(made));
    if (i % 2 == 0) continue;
    OPENMRC_CHECK(all[i - 1]->connect(all[i]->connection_info()), "it can be connected");
    OPENMRC_CHECK(all[i]->connect(all[i - 1]->connection_info()), "it can be connected");
  }
  const std::size_t own = all.capacity() * sizeof(all[0]);
  std::printf("queue_pairs %u host_bytes %zu queue_pair_bytes %zu peak_kib %lu\n", count,
              without - empty, (live() - without - own) / count, peak_kib());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto count = argc == 2 ? std::strtoul(argv[1], nullptr, 10) : 0;
  if (count == 0) {
    std::fprintf(stderr, "usage: host_scale N\n");
    return 2;
  }
  return report(static_cast<std::uint32_t>(count));
}
