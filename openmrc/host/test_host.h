// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "openmrc/host/host.h"

// For tests: hosts on the loopback interface.
namespace openmrc::host {

inline constexpr wire::Ipv6Address kLoopback = wire::Ipv6Address::of({0, 0, 0, 0, 0, 0, 0, 1});
// Not the port of anything else on this machine, nor of another test.
inline constexpr wire::UdpPort kPort{24791};

// One plane, on the loopback interface: needs no privileges.
inline Config loopback_config(Progress progress, std::size_t shards = 1) {
  Config config;
  config.name = "here";
  config.ports = {{.interface = "lo", .address = kLoopback}};
  config.transport.udp_port = kPort;
  config.wire.udp_port = kPort;
  config.transport.paths.evs = 4;
  config.progress = progress;
  config.shards = shards;
  config.transport.congestion.base_rtt = milliseconds(1);
  config.transport.retry = {.timeout = 17, .linear = 3, .exponential = 2};
  return config;
}

// For tests in which nobody answers: gives up after 42 ms. Others wait for 1.3 s, because a busy
// machine may need as long for an answer.
inline Config impatient(Config config) {
  config.transport.retry.timeout = 12;
  return config;
}

struct Side {
  explicit Side(const Config& config, std::size_t bytes = 1 << 20) : memory(bytes) {
    auto opened = Host::open(config);
    if (!opened) throw std::runtime_error(to_string(opened.error()));
    host = std::move(*opened);
    queue = host->create_completion_queue();
    region = std::move(*host->register_memory(memory));
  }
  std::unique_ptr<QueuePair> make_queue_pair() {
    return std::move(*host->create_queue_pair({.writes = queue.get()}));
  }

  std::vector<std::byte> memory;
  std::unique_ptr<Host> host;
  std::unique_ptr<CompletionQueue> queue;
  std::unique_ptr<MemoryRegion> region;
};

inline void connect(QueuePair& a, QueuePair& b) {
  ASSERT_TRUE(a.connect(b.connection_info()));
  ASSERT_TRUE(b.connect(a.connection_info()));
}

inline std::vector<Completion> wait_for(CompletionQueue& queue, std::size_t count) {
  std::vector<Completion> all;
  for (int tries = 0; all.size() < count && tries < 100; ++tries) {
    std::array<Completion, 16> some;
    const std::size_t got = queue.wait(some, milliseconds(100));
    all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(got));
  }
  return all;
}

inline void fill(std::span<std::byte> bytes, unsigned seed) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + seed);
}

// So many writes of 16 KiB each, one after the other; each must arrive as it was sent. Needs no
// memory itself.
inline void expect_writes(Side& from, QueuePair& sender, Side& to, unsigned count) {
  constexpr std::size_t kBytes = 16 * 1024;
  const std::span data = std::span(from.memory).first(kBytes);
  for (unsigned i = 0; i < count; ++i) {
    fill(data, i);
    const RemoteMemory remote = to.region->remote();
    ASSERT_TRUE(sender.post_write(
        {.id = i, .data = data, .remote_address = remote.address, .rkey = RKey(remote.rkey)}));
    std::array<Completion, 1> done;
    std::size_t got = 0;
    for (int tries = 0; got == 0 && tries < 100; ++tries) {
      got = from.queue->wait(done, milliseconds(100));
    }
    ASSERT_EQ(got, 1U);
    ASSERT_EQ(done[0].status, WorkStatus::kSuccess);
    ASSERT_TRUE(std::ranges::equal(data, std::span(to.memory).first(kBytes)));
  }
}

}  // namespace openmrc::host
