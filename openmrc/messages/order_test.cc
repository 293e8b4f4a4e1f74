// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "openmrc/messages/test_fixture.h"

namespace openmrc::messages {
namespace {

using namespace test;
using enum Status;

// Bad weather, by seed.
class OrderTest : public LayerTest {
 protected:
  static PairOptions bad(std::uint64_t seed) {
    PairOptions options{};
    options.weather = {.lost_per_mille = 50, .jitter_ns = 40'000};
    options.seed = seed;
    return options;
  }
  static constexpr std::uint64_t kSeeds = 40;
};

// MSG-10, MSG-13, MSG-40
TEST_F(OrderTest, EachMessageOnceInOrderWithItsBytes) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    start(bad(seed));
    Rng rng(seed);
    std::vector<std::size_t> lengths;
    for (std::uint32_t i = 0; i < 40; ++i) {
      lengths.push_back(rng.below(4) == 0 ? 0 : rng.below(1500));
      receive(100 + i, 1500 * i, 1500);
      const std::array segments{source->at(1500 * i, lengths.back())};
      SendRequest request{.id = i, .segments = segments, .immediate = wire::Immediate(i)};
      request.opcode = rng.below(2) == 0 ? Opcode::kSend : Opcode::kSendWithImmediate;
      send(request);
    }
    pair->settle(seconds(5));
    const auto received = at_b();
    ASSERT_EQ(received.size(), 40u) << seed;
    for (std::uint32_t i = 0; i < 40; ++i) {
      EXPECT_EQ(received[i].id, 100 + i);
      EXPECT_EQ(received[i].status, kSuccess);
      ASSERT_EQ(received[i].length, lengths[i]) << seed;
      EXPECT_TRUE(same(1500 * i, 1500 * i, lengths[i]));
      EXPECT_EQ(received[i].immediate.value_or(wire::Immediate(i)), wire::Immediate(i));
    }
    const auto sent = at_a();
    ASSERT_EQ(sent.size(), 40u);
    EXPECT_TRUE(std::ranges::is_sorted(ids_of(sent)));
  }
}

// MSG-33: what was written before is read.
TEST_F(OrderTest, ReadSeesTheWriteBeforeIt) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    start(bad(seed));
    remote_bytes(1, Opcode::kWrite, 5000);
    const std::array into{source->at(10000, 5000)};
    send(remote(2, Opcode::kRead, into));
    pair->settle(seconds(5));
    ASSERT_EQ(ids_of(at_a()), (Ids{1, 2})) << seed;
    EXPECT_EQ(std::memcmp(source->bytes.data(), source->bytes.data() + 10000, 5000), 0) << seed;
  }
}

// MSG-4: the receive completes when all that was sent before has been placed.
TEST_F(OrderTest, ReceiveComesAfterTheWritesBeforeIt) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (const Opcode opcode : {Opcode::kSend, Opcode::kWriteWithImmediate}) {
      start(bad(seed));
      receive(11, 60000, 10);
      remote_bytes(1, Opcode::kWrite, 20000);
      if (opcode == Opcode::kSend) {
        send_bytes(2, 10);
      } else {
        send({.id = 2, .opcode = opcode});
      }
      std::vector<Completion> received;
      while (received.empty()) {
        pair->run_for(microseconds(1));
        received = at_b();
      }
      EXPECT_TRUE(same(0, 0, 20000)) << seed;
    }
  }
}

// MSG-38: each exactly once.
TEST_F(OrderTest, FetchAndAddGivesTheExactSum) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    PairOptions options = bad(seed);
    options.a.queue_pairs = options.b.queue_pairs = 4;
    start(options);
    std::memset(target->bytes.data(), 0, 8);
    for (WorkId i = 0; i < 60; ++i) {
      for (std::size_t qp = 0; qp < 4; ++qp) {
        const std::array into{source->at(8 * (i * 4 + qp), 8)};
        SendRequest add = remote(i, Opcode::kFetchAndAdd, into);
        add.operand = 1;
        pair->send(pair->a(), add, qp);
      }
    }
    pair->settle(seconds(5));
    ASSERT_EQ(at_a().size(), 240u) << seed;
    std::uint64_t sum = 0;
    std::memcpy(&sum, target->bytes.data(), 8);
    EXPECT_EQ(sum, 240u) << seed;
    std::vector<std::uint64_t> seen(240);
    std::memcpy(seen.data(), source->bytes.data(), 240 * 8);
    std::ranges::sort(seen);
    for (std::uint64_t i = 0; i < 240; ++i) EXPECT_EQ(seen[i], i);
  }
}

// MSG-34
TEST_F(OrderTest, FenceWaitsForReadsBeforeIt) {
  for (const bool fenced : {false, true}) {
    start({});
    receive(11, 0, 0);
    pair->settle();
    remote_bytes(1, Opcode::kRead, 30000);
    send({.id = 2, .opcode = Opcode::kSend, .fenced = fenced});
    std::vector<Completion> received;
    while (received.empty()) {
      pair->run_for(microseconds(1));
      received = at_b();
    }
    // Without it, the SEND arrives when no byte of the response can have come.
    EXPECT_EQ(same(0, 0, 30000), fenced);
    pair->settle();
    EXPECT_EQ(ids_of(at_a()), (Ids{1, 2})) << "a READ holds back what comes after it";
  }
}

// MSG-40
TEST_F(OrderTest, UnsignaledRequestsFreeTheirPlaces) {
  const std::array segments{source->at(0, 10)};
  for (WorkId i = 0; i < 64; ++i) {
    SendRequest request = remote(i, Opcode::kWrite, segments);
    request.signaled = i == 63;
    send(request);
  }
  EXPECT_EQ(pair->a().layer.post_send(pair->a().qpns[0], remote(1, Opcode::kWrite, segments)),
            (Result<void, PostError>(failure(PostError::kFull))));
  pair->settle();
  EXPECT_EQ(ids_of(at_a()), Ids{63});
  for (WorkId i = 0; i < 200; ++i) {
    SendRequest request = remote(i, Opcode::kWrite, segments);
    request.signaled = false;
    send(request);
    if (i % 50 == 0) pair->settle();
  }
  pair->settle();
  EXPECT_TRUE(at_a().empty());
}

// MSG-28: when the endpoint has no room, the rest follows later.
TEST_F(OrderTest, EndpointWithoutRoomIsWaitedFor) {
  PairOptions options{};
  options.limits.sends_outstanding = 3;
  start(options);
  for (WorkId i = 0; i < 20; ++i) receive(100 + i, 0, 30000);
  for (WorkId i = 0; i < 20; ++i) {
    const std::array segments{source->at(0, 9000), source->at(10000, 9000),
                              source->at(20000, 1000)};
    send({.id = i, .segments = segments});
    remote_bytes(i, Opcode::kRead, 100);
  }
  pair->settle();
  EXPECT_EQ(at_a().size(), 40u);
  EXPECT_EQ(at_b().size(), 20u);
}

// MSG-28: also of queue pairs that nothing else happens to.
TEST_F(OrderTest, EveryQueuePairGetsRoomWhenThereIsSome) {
  PairOptions options{};
  options.limits.sends_outstanding = 1;  // at the least so many as one block of memory has
  options.a.queue_pair.sends.requests = 1000;
  options.a.queue_pairs = options.b.queue_pairs = 3;
  start(options);
  const std::array segments{source->at(0, 10)};
  for (const std::size_t qp : {0u, 0u, 0u, 1u, 2u}) {
    for (WorkId i = 0; i < (qp == 0 ? 300u : 5u); ++i) {
      pair->send(pair->a(), remote(i, Opcode::kWrite, segments), qp);
    }
  }
  pair->settle();
  EXPECT_EQ(at_a().size(), 910u);
}

// MSG-21: a CREDIT that waits for room changes nothing about those in flight.
TEST_F(OrderTest, CreditInFlightSaysNoMoreThanWasAdvertised) {
  PairOptions options{};
  options.limits.sends_outstanding = 1;
  options.b.queue_pair.sends.requests = 1000;
  options.a.queue_pairs = options.b.queue_pairs = 2;
  start(options);
  pair->loses_writes_to[0] = 1;
  receive(1, 0, 100);
  pair->run_for(microseconds(1));
  const std::array segments{target->at(1000, 10)};
  for (WorkId i = 0; i < 900; ++i) {
    pair->send(pair->b(),
               {.id = 10 + i,
                .opcode = Opcode::kWrite,
                .segments = segments,
                .remote_address = source->address + 1000,
                .rkey = source->key},
               1);
  }
  pair->run_for(microseconds(1));
  receive(2, 100, 100);
  send_bytes(1, 50);
  send_bytes(2, 50);
  pair->run_for(microseconds(1));
  pair->loses_writes_to[0] = SIZE_MAX;
  pair->settle();
  EXPECT_EQ(statuses_of(at_a()), Statuses(2, kSuccess));
  EXPECT_EQ(statuses_of(at_b()), Statuses(902, kSuccess));
}

// ---- shared receives ----

class SharedTest : public OrderTest {
 protected:
  static PairOptions shared(std::uint64_t seed, std::size_t queue_pairs) {
    PairOptions options = seed == 0 ? PairOptions{} : bad(seed);
    options.b.shares_receives = true;
    options.a.queue_pairs = options.b.queue_pairs = queue_pairs;
    return options;
  }
};

// MSG-15, MSG-22, MSG-23: few receives for many, and every kind of message.
TEST_F(SharedTest, ManyQueuePairsShareFewReceives) {
  for (std::uint64_t seed = 0; seed <= kSeeds; ++seed) {
    start(shared(seed, 8));
    std::size_t received = 0;
    std::vector<std::uint32_t> next(8);
    for (WorkId i = 0; i < 3; ++i) receive(i, 1000 * i, 1000);
    for (std::uint32_t i = 0; i < 20; ++i) {
      for (std::size_t qp = 0; qp < 8; ++qp) {
        const std::array segments{source->at(0, (i * 131) % 1000)};
        SendRequest request{.id = i,
                            .opcode = Opcode::kSendWithImmediate,
                            .segments = segments,
                            .immediate = wire::Immediate(i)};
        if (i % 5 == 3) {
          request.opcode = Opcode::kWriteWithImmediate;
          request.segments = {};
        }
        pair->send(pair->a(), request, qp);
      }
    }
    for (int turn = 0; turn < 100'000 && received < 160; ++turn) {
      pair->run_for(microseconds(20));
      for (const Completion& completion : at_b()) {
        ASSERT_EQ(completion.status, kSuccess) << seed;
        const auto qp = static_cast<std::size_t>(std::ranges::find(pair->b().qpns, completion.qpn) -
                                                 pair->b().qpns.begin());
        EXPECT_EQ(*completion.immediate, wire::Immediate(next[qp]++)) << seed;
        ++received;
        receive(completion.id, 1000 * completion.id, 1000);
      }
    }
    EXPECT_EQ(received, 160u) << seed;
    pair->settle();
    EXPECT_EQ(at_a().size(), 160u) << seed;
  }
}

// MSG-24: nothing is promised of an empty queue.
TEST_F(SharedTest, EmptySharedQueueIsWaitedFor) {
  start(shared(0, 2));
  send_bytes(1, 3000);
  pair->run_for(seconds(2));
  EXPECT_TRUE(at_a().empty());
  receive(11, 0, 3000);
  pair->settle();
  EXPECT_EQ(ids_of(at_a()), Ids{1});
  EXPECT_EQ(ids_of(at_b()), Ids{11});
}

// MSG-16: a promise that others have used up costs retransmissions, not the connection.
TEST_F(SharedTest, PromiseThatCannotBeKeptIsWaitedFor) {
  start(shared(0, 2));
  receive(11, 0, 3000);
  pair->settle();
  send_bytes(1, 3000);
  const std::array segments{source->at(0, 2000)};
  pair->send(pair->a(), {.id = 2, .segments = segments}, 1);
  pair->run_for(milliseconds(300));
  EXPECT_EQ(at_b().size(), 1u);
  EXPECT_EQ(at_a().size(), 1u);
  receive(12, 0, 3000);
  pair->run_for(milliseconds(100));
  EXPECT_EQ(at_b().size(), 1u);
  EXPECT_EQ(at_a().size(), 1u);
}

// MSG-16: the peer says that it waits, so it is not silent.
TEST_F(SharedTest, PromiseThatCannotBeKeptIsNoSilence) {
  PairOptions options = shared(0, 2);
  options.exponential_retries = 1;
  start(options);
  receive(11, 0, 3000);
  pair->settle();
  send_bytes(1, 3000);
  const std::array segments{source->at(0, 2000)};
  pair->send(pair->a(), {.id = 2, .segments = segments}, 1);
  pair->run_for(seconds(2));
  EXPECT_EQ(ids_of(at_a()), Ids{1});
  receive(12, 0, 3000);
  pair->run_for(milliseconds(10));
  EXPECT_EQ(statuses_of(at_a()), Statuses{kSuccess});
}

// MSG-25: a message that is late has not been refused, and what waits behind it neither.
TEST_F(OrderTest, MessageBehindOneThatIsLateHasNotBeenRefused) {
  PairOptions options{};
  options.a.requester.rnr_retry = 0;
  options.b.responder.rnr_timer = 20;  // 10.24 ms
  start(options);
  receive(11, 0, 100);
  pair->settle();
  pair->loses_writes_to[1] = 100;
  send_bytes(1, 100);
  send_bytes(2, 100);
  pair->run_for(milliseconds(30));
  EXPECT_TRUE(at_a().empty());
  pair->loses_writes_to[1] = SIZE_MAX;
  std::vector<Completion> received;
  for (int i = 0; i < 1'000'000 && received.empty(); ++i) {
    pair->run_for(microseconds(1));
    received = at_b();
  }
  receive(12, 0, 100);
  pair->settle();
  EXPECT_EQ(statuses_of(at_a()), (Statuses{kSuccess, kSuccess}));
}

// MSG-29: a promise that others have used up is no receive either.
TEST_F(SharedTest, PromiseThatCannotBeKeptCountsAsReceiverNotReady) {
  PairOptions options = shared(0, 2);
  options.a.requester.rnr_retry = 2;
  options.b.responder.rnr_timer = 20;  // 10.24 ms
  start(options);
  receive(11, 0, 3000);
  pair->settle();
  send_bytes(1, 3000);
  const std::array segments{source->at(0, 2000)};
  pair->send(pair->a(), {.id = 2, .segments = segments}, 1);
  pair->send(pair->a(), {.id = 3, .segments = segments}, 1);
  pair->run_for(microseconds(10240) * 3 - microseconds(100));
  EXPECT_EQ(ids_of(at_a()), Ids{1});
  pair->run_for(seconds(1));
  EXPECT_EQ(statuses_of(at_a()), (Statuses{kRnrRetryExceeded, kFlushed}));
  EXPECT_EQ(pair->b().endpoint.state(pair->b().qpns[1]), core::QueuePairState::kReadyToSend);
}

// MSG-29: and one that comes in time is taken.
TEST_F(SharedTest, ReceiveThatComesInTimeEndsTheWait) {
  PairOptions options = shared(0, 2);
  options.a.requester.rnr_retry = 1;
  options.b.responder.rnr_timer = 20;
  start(options);
  receive(11, 0, 3000);
  pair->settle();
  send_bytes(1, 3000);
  const std::array segments{source->at(0, 2000)};
  pair->send(pair->a(), {.id = 2, .segments = segments}, 1);
  for (WorkId id = 12; id < 16; ++id) {
    pair->run_for(milliseconds(15));
    receive(id, 0, 3000);
    pair->run_for(milliseconds(15));
    EXPECT_EQ(statuses_of(at_a()), Statuses(id == 12 ? 2 : 1, kSuccess));
    pair->send(pair->a(), {.id = 2, .segments = segments}, 1);
  }
}

// MSG-42: a message without bytes needs no memory, also if it had to wait.
TEST_F(SharedTest, MessageWithoutBytesNeedsNoKey) {
  start(shared(0, 2));
  receive(11, 0, 100);
  pair->settle();
  for (const std::size_t qp : {0u, 1u}) pair->send(pair->a(), {.id = qp}, qp);
  pair->settle();
  for (WorkId id = 12; id < 14; ++id) {
    const std::array segments{target->at(0, 100)};
    pair->receive(pair->b(), id, segments, false);
    pair->settle();
    send({.id = 3});
    pair->settle();
  }
  EXPECT_EQ(statuses_of(at_b()), Statuses(3, kSuccess));
}

// MSG-44
TEST_F(SharedTest, LastReceiveIsAnnounced) {
  start(shared(0, 1));
  EXPECT_TRUE(pair->b().layer.set_shared_limit(*pair->b().shared, 2));
  receive(11, 0, 100);
  receive(12, 0, 100);
  pair->settle();
  send_bytes(1, 10);
  pair->settle();
  auto events = pair->events(pair->b());
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, EventKind::kReceivesLow);
  EXPECT_TRUE(pair->b().layer.to_error(pair->b().qpns[0], pair->now()));
  pair->settle();
  events = pair->events(pair->b());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, EventKind::kFailed);
  EXPECT_EQ(events[1].kind, EventKind::kLastReceiveTaken);
  EXPECT_EQ(ids_of(at_b()), Ids{11}) << "the other is still in the shared queue";
}

}  // namespace
}  // namespace openmrc::messages
