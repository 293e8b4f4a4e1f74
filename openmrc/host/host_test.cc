// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/host.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "openmrc/host/test_host.h"

namespace openmrc::host {
namespace {

class HostProgress : public testing::TestWithParam<Progress> {};
INSTANTIATE_TEST_SUITE_P(All, HostProgress,
                         testing::Values(Progress::kSleep, Progress::kPoll, Progress::kCaller));

// QP-9
TEST_P(HostProgress, WritesArriveAndAreReported) {
  // Two hosts that make progress only when called cannot wait for each other in one thread.
  Side to(loopback_config(GetParam() == Progress::kCaller ? Progress::kSleep : GetParam()));
  Side from(loopback_config(GetParam()));
  auto sender = from.make_queue_pair();
  auto receiver = to.make_queue_pair();
  connect(*sender, *receiver);
  ASSERT_TRUE(receiver->post_receive(99));

  fill(from.memory, 3);
  const RemoteMemory remote = to.region->remote();
  ASSERT_TRUE(sender->post_write({.id = 7,
                                  .data = from.memory,
                                  .remote_address = remote.address,
                                  .rkey = RKey(remote.rkey),
                                  .immediate = 42}));
  const auto sent = wait_for(*from.queue, 1);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].id, 7U);
  EXPECT_EQ(sent[0].status, WorkStatus::kSuccess);
  const auto received = wait_for(*to.queue, 1);
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0].id, 99U);
  EXPECT_EQ(received[0].immediate.raw(), 42U);
  EXPECT_TRUE(to.memory == from.memory);
}

Config ipv4_config() {
  Config config = loopback_config(Progress::kSleep);
  config.ports[0].address = wire::mapped(wire::Ipv4Address(0x7f00'0001));
  return config;
}

TEST(Host, WritesOverIpv4) {
  Side a(ipv4_config());
  Side b(ipv4_config());
  const auto sender = a.make_queue_pair();
  const auto receiver = b.make_queue_pair();
  connect(*sender, *receiver);
  expect_writes(a, *sender, b, 8);
}

TEST(Host, OfIpv4RefusesAPeerOfIpv6) {
  Side a(ipv4_config());
  Side b(loopback_config(Progress::kSleep));
  const auto connected = a.make_queue_pair()->connect(b.make_queue_pair()->connection_info());
  ASSERT_FALSE(connected);
  EXPECT_NE(to_string(connected.error()).find("another IP version"), std::string::npos);
}

// SEC-3, SEC-4
TEST(Host, DrawsPsnsAndPathsAnew) {
  Side one(loopback_config(Progress::kCaller));
  Side other(loopback_config(Progress::kCaller));
  const std::uint32_t psn = one.make_queue_pair()->connection_info().psn;
  EXPECT_NE(one.make_queue_pair()->connection_info().psn, psn);
  EXPECT_NE(other.make_queue_pair()->connection_info().psn, psn);
  const auto first_ev = [](const Side& side) {
    return side.host->paths().profiles().at(0)->entries()[0].ev;
  };
  EXPECT_NE(first_ev(one), first_ev(other));
}

// Each packet is a system call: what is answered to a message must not stand before its reply.
TEST(Host, AnswersLeaveAfterWhatTheCallerPostsNext) {
  Side to(loopback_config(Progress::kCaller));
  Side from(loopback_config(Progress::kSleep));
  auto sender = from.make_queue_pair();
  auto receiver = to.make_queue_pair();
  connect(*sender, *receiver);
  ASSERT_TRUE(receiver->post_receive(1));
  ASSERT_TRUE(sender->post_write({.immediate = 1}));
  ASSERT_EQ(wait_for(*to.queue, 1).size(), 1U);
  const auto answers = [&] { return to.host->counters().of(core::Count::kSacksSent); };
  EXPECT_EQ(answers(), 0U);
  ASSERT_TRUE(receiver->post_receive(2));
  EXPECT_EQ(answers(), 0U);
  ASSERT_TRUE(receiver->post_write({.id = 3, .immediate = 3}));
  EXPECT_EQ(answers(), 1U);
}

// A program may end with its last message: whoever sent it is not to take it for lost.
TEST(Host, WhatWasReceivedIsAcknowledgedThoughItsQueuePairEndsAtOnce) {
  Side to(loopback_config(Progress::kCaller));
  Side from(impatient(loopback_config(Progress::kSleep)));
  auto sender = from.make_queue_pair();
  auto receiver = to.make_queue_pair();
  connect(*sender, *receiver);
  ASSERT_TRUE(receiver->post_receive(1));
  ASSERT_TRUE(sender->post_write({.id = 2, .immediate = 1}));
  ASSERT_EQ(wait_for(*to.queue, 1).size(), 1U);
  receiver.reset();
  const auto sent = wait_for(*from.queue, 1);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].status, WorkStatus::kSuccess);
}

TEST(Host, SaysWhoDidNotAnswerAndWhere) {
  Side from(impatient(loopback_config(Progress::kSleep)));
  auto sender = from.make_queue_pair();
  {
    Side to(loopback_config(Progress::kSleep));
    auto receiver = to.make_queue_pair();
    connect(*sender, *receiver);
  }  // and is gone
  ASSERT_TRUE(sender->post_write({.id = 1, .data = std::span(from.memory).first(100)}));
  const auto completions = wait_for(*from.queue, 1);
  ASSERT_EQ(completions.size(), 1U);
  EXPECT_EQ(completions[0].status, WorkStatus::kRetryExceeded);
  const auto text = sender->failure_text();
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("to here"), std::string::npos) << *text;
  EXPECT_NE(text->find("retry counter exceeded"), std::string::npos) << *text;
  EXPECT_EQ(sender->state(), core::QueuePairState::kError);
}

// The least that the kernel gives is a packet or two in each direction.
TEST(Host, TheSmallestSocketBuffersCarryAllData) {
  Config config = loopback_config(Progress::kSleep);
  config.socket_buffer = 0;
  Side to(config);
  Side from(config);
  auto sender = from.make_queue_pair();
  auto receiver = to.make_queue_pair();
  connect(*sender, *receiver);
  expect_writes(from, *sender, to, 20);
}

TEST(Host, RefusesWritesOutsideARegion) {
  Side to(loopback_config(Progress::kSleep));
  Side from(loopback_config(Progress::kSleep));
  auto sender = from.make_queue_pair();
  auto receiver = to.make_queue_pair();
  connect(*sender, *receiver);
  const RemoteMemory remote = to.region->remote();
  ASSERT_TRUE(sender->post_write({.id = 1,
                                  .data = std::span(from.memory).first(2),
                                  .remote_address = remote.address + remote.length - 1,
                                  .rkey = RKey(remote.rkey)}));
  const auto completions = wait_for(*from.queue, 1);
  ASSERT_EQ(completions.size(), 1U);
  EXPECT_EQ(completions[0].status, WorkStatus::kRemoteAccess);
}

TEST(Host, AWriteOfNoBytesCarriesItsImmediateAndNeedsNoKey) {
  Side to(loopback_config(Progress::kSleep));
  Side from(loopback_config(Progress::kSleep));
  auto sender = from.make_queue_pair();
  auto receiver = to.make_queue_pair();
  connect(*sender, *receiver);
  ASSERT_TRUE(receiver->post_receive(5));
  ASSERT_TRUE(sender->post_write({.id = 6, .immediate = 0xcafe}));
  EXPECT_EQ(wait_for(*from.queue, 1).at(0).status, WorkStatus::kSuccess);
  const auto received = wait_for(*to.queue, 1);
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0].length, 0U);
  EXPECT_EQ(received[0].immediate.raw(), 0xcafeU);
}

TEST(Host, PeersCallMemoryByTheAddressThatItWasRegisteredWith) {
  Side to(loopback_config(Progress::kSleep));
  Side from(loopback_config(Progress::kSleep));
  auto sender = from.make_queue_pair();
  auto receiver = to.make_queue_pair();
  connect(*sender, *receiver);
  const auto region = to.host->register_memory(to.memory, {.address = 0x7000});
  ASSERT_TRUE(region);
  fill(from.memory, 1);
  ASSERT_TRUE(sender->post_write({.data = std::span(from.memory).first(100),
                                  .remote_address = 0x7000 + 50,
                                  .rkey = RKey((*region)->remote().rkey)}));
  EXPECT_EQ(wait_for(*from.queue, 1).at(0).status, WorkStatus::kSuccess);
  EXPECT_TRUE(std::equal(from.memory.begin(), from.memory.begin() + 100, to.memory.begin() + 50));
}

TEST(Host, MemoryOfAnotherDomainOrOnlyForReadingIsNotWrittenTo) {
  Side to(loopback_config(Progress::kSleep));
  const ProtectionDomain other = to.host->create_protection_domain();
  const MemoryOptions kinds[] = {{.domain = other}, {.remote_write = false}};
  for (const MemoryOptions& options : kinds) {
    Side from(loopback_config(Progress::kSleep));
    auto sender = from.make_queue_pair();
    auto receiver = to.make_queue_pair();
    connect(*sender, *receiver);
    const auto region = to.host->register_memory(to.memory, options);
    ASSERT_TRUE(region);
    ASSERT_TRUE(sender->post_write({.data = std::span(from.memory).first(100),
                                    .remote_address = (*region)->remote().address,
                                    .rkey = RKey((*region)->remote().rkey)}));
    EXPECT_EQ(wait_for(*from.queue, 1).at(0).status, WorkStatus::kRemoteAccess);
  }
}

TEST(Host, APortThatIsDisabledIsDown) {
  Side side(loopback_config(Progress::kSleep));
  EXPECT_TRUE(side.host->port_is_up(Plane(0)));
  side.host->set_port_enabled(Plane(0), false);
  EXPECT_FALSE(side.host->port_is_up(Plane(0)));
  side.host->set_port_enabled(Plane(0), true);
  EXPECT_TRUE(side.host->port_is_up(Plane(0)));
}

// MRC 7.5.1: what the configuration says is what both ends use.
TEST(Host, OffersTheWindowThatIsConfiguredAndChangesItIfBothMay) {
  for (const bool both : {true, false}) {
    Config config = loopback_config(Progress::kSleep);
    config.transport.mpr = 64;
    config.transport.dynamic_mpr = true;
    Side from(config);
    config.transport.dynamic_mpr = both;
    Side to(config);
    auto sender = from.make_queue_pair();
    auto receiver = to.make_queue_pair();
    connect(*sender, *receiver);
    const RemoteMemory remote = to.region->remote();
    const auto write = [&] {
      ASSERT_TRUE(sender->post_write({.data = std::span(from.memory).first(1 << 16),
                                      .remote_address = remote.address,
                                      .rkey = RKey(remote.rkey)}));
      ASSERT_EQ(wait_for(*from.queue, 1).at(0).status, WorkStatus::kSuccess);
    };
    write();
    EXPECT_EQ(sender->send_window()->psns, 64 * core::kPsnsPerMpr);
    EXPECT_EQ(receiver->offer_mpr(2), both);
    EXPECT_FALSE(receiver->offer_mpr(65));
    for (int tries = 0; tries < 100; ++tries) {
      write();
      if (!both || sender->send_window()->psns == 2 * core::kPsnsPerMpr) break;
    }
    EXPECT_EQ(sender->send_window()->psns, (both ? 2 : 64) * core::kPsnsPerMpr);
  }
}

TEST(Host, EightShardsOfOneProcessShareThePort) {
  Side to(loopback_config(Progress::kSleep, 8));
  Side from(loopback_config(Progress::kSleep, 8));
  std::vector<std::unique_ptr<QueuePair>> senders;
  std::vector<std::unique_ptr<QueuePair>> receivers;
  constexpr std::size_t kPairs = 64;
  constexpr std::size_t kBytes = 16 * 1024;
  fill(from.memory, 9);
  const RemoteMemory remote = to.region->remote();
  for (std::size_t i = 0; i < kPairs; ++i) {
    senders.push_back(from.make_queue_pair());
    // Another shard there than here.
    receivers.push_back(std::move(
        *to.host->create_queue_pair({.writes = to.queue.get(), .shard = (i * 3 + 1) % 8})));
    connect(*senders[i], *receivers[i]);
  }
  for (std::size_t i = 0; i < kPairs; ++i) {
    ASSERT_TRUE(senders[i]->post_write({.id = i,
                                        .data = std::span(from.memory).subspan(i * kBytes, kBytes),
                                        .remote_address = remote.address + i * kBytes,
                                        .rkey = RKey(remote.rkey)}));
  }
  const auto completions = wait_for(*from.queue, kPairs);
  ASSERT_EQ(completions.size(), kPairs);
  EXPECT_TRUE(std::ranges::all_of(
      completions, [](const Completion& c) { return c.status == WorkStatus::kSuccess; }));
  EXPECT_TRUE(to.memory == from.memory);
}

// A completion queue's descriptor tells an event loop when to come.
TEST(CompletionQueue, WakesAnEventLoop) {
  Side to(loopback_config(Progress::kSleep));
  Side from(loopback_config(Progress::kSleep));
  auto sender = from.make_queue_pair();
  auto receiver = to.make_queue_pair();
  connect(*sender, *receiver);
  from.queue->arm();
  const int descriptor = from.queue->descriptor();
  std::array<Completion, 4> some;
  ASSERT_EQ(from.queue->poll(some), 0U);
  ASSERT_TRUE(sender->post_write({.id = 5,
                                  .data = std::span(from.memory).first(8),
                                  .remote_address = to.region->remote().address,
                                  .rkey = RKey(to.region->remote().rkey)}));
  pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&waiting, 1, 5000), 1);
  EXPECT_EQ(from.queue->poll(some), 1U);
}

// Threads that post while others poll, on queue pairs of one shard: for the thread sanitizer.
TEST(Host, ManyThreadsUseOneShard) {
  Side to(loopback_config(Progress::kSleep));
  Side from(loopback_config(Progress::kSleep));
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kWrites = 50;
  std::vector<std::unique_ptr<QueuePair>> senders;
  std::vector<std::unique_ptr<QueuePair>> receivers;
  for (std::size_t i = 0; i < kThreads; ++i) {
    senders.push_back(from.make_queue_pair());
    receivers.push_back(to.make_queue_pair());
    connect(*senders[i], *receivers[i]);
  }
  const RemoteMemory remote = to.region->remote();
  std::vector<std::thread> threads;
  std::atomic<int> refused = 0;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (std::size_t n = 0; n < kWrites; ++n) {
        const Write write{.id = n,
                          .data = std::span(from.memory).subspan(i * 8192, 8192),
                          .remote_address = remote.address + i * 8192,
                          .rkey = RKey(remote.rkey)};
        if (!senders[i]->post_write(write)) ++refused;
      }
    });
  }
  const auto completions = wait_for(*from.queue, kThreads * kWrites);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(completions.size(), kThreads * kWrites);
  EXPECT_EQ(refused, 0);
}

}  // namespace
}  // namespace openmrc::host
