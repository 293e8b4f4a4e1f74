// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/tagged/group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "openmrc/host/test_host.h"

namespace openmrc::tagged {
namespace {

using enum Group::Direction;
constexpr Duration kLong = seconds(20);
constexpr std::uint64_t kTag = 5;
constexpr std::size_t kShort = 100;
constexpr std::size_t kLongSize = 300'000;

// Bytes with a buffer over them.
struct Memory {
  explicit Memory(std::size_t size, unsigned seed = 0) : bytes(size), buffer(bytes) {
    if (seed != 0) host::fill(bytes, seed);
  }
  std::vector<std::byte> bytes;
  Buffer buffer;
};

// A process of a group: a host of its own, on the loopback interface.
struct Member {
  Member(int rank, int size, const host::Config& config) {
    auto opened = host::Host::open(config);
    if (!opened) throw std::runtime_error(to_string(opened.error()));
    host = std::move(*opened);
    group = std::make_unique<Group>(*host, rank, size);
  }
  ~Member() {
    for (Memory& one : memory) {
      if (group) group->forget(one.buffer);
    }
  }
  Memory& make(std::size_t size, unsigned seed = 0) { return memory.emplace_back(size, seed); }

  std::unique_ptr<host::Host> host;
  std::deque<Memory> memory;
  std::unique_ptr<Group> group;
};

struct GroupTest : testing::Test {
  void make(int size, double loss = 0) {
    host::Config config = host::loopback_config(host::Progress::kSleep);
    if (loss > 0) config.faults = host::FaultConfig{.drop = loss};
    for (int i = 0; i < size; ++i) members.push_back(std::make_unique<Member>(i, size, config));
    for (int a = 0; a < size; ++a) {
      for (int b = a + 1; b < size; ++b) {
        const auto of_a = group(a).add_peer(b);
        const auto of_b = group(b).add_peer(a);
        ASSERT_TRUE(of_a && of_b);
        ASSERT_TRUE(group(a).connect(b, *of_b));
        ASSERT_TRUE(group(b).connect(a, *of_a));
      }
    }
  }
  Group& group(int rank) { return *members[static_cast<std::size_t>(rank)]->group; }
  Memory& memory(int rank, std::size_t size, unsigned seed = 0) {
    return members[static_cast<std::size_t>(rank)]->make(size, seed);
  }
  void send(int from, Memory& what, int to, std::uint64_t tag = kTag) {
    ASSERT_TRUE(group(from).send(what.buffer, what.bytes, to, tag));
  }
  void receive(int at, Memory& into, std::vector<int> from, std::uint64_t tag = kTag) {
    ASSERT_TRUE(group(at).receive(into.buffer, into.bytes, std::move(from), tag));
  }
  // The other end of what is complete; -1: aborted, -2: an error.
  int wait(int rank, Memory& what, Group::Direction direction) {
    const auto done = group(rank).wait(what.buffer, direction, kLong);
    return done ? done->value_or(-1) : -2;
  }
  std::string error(int rank, Memory& what, Group::Direction direction, Duration timeout = kLong) {
    const auto done = group(rank).wait(what.buffer, direction, timeout);
    return done ? "no error" : done.error();
  }

  std::vector<std::unique_ptr<Member>> members;
};

TEST_F(GroupTest, MessagesOfAllSizesArrive) {
  make(2);
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, kEagerMax, kEagerMax + 1, kLongSize}) {
    Memory& from = memory(0, size, 3);
    Memory& to = memory(1, size);
    send(0, from, 1);
    receive(1, to, {0});
    EXPECT_EQ(wait(1, to, kReceive), 0) << size;
    EXPECT_EQ(wait(0, from, kSend), 1) << size;
    EXPECT_EQ(from.bytes, to.bytes) << size;
  }
}

TEST_F(GroupTest, AReceiveMayComeFirst) {
  make(2);
  for (const std::size_t size : {kShort, kLongSize}) {
    Memory& from = memory(0, size, 3);
    Memory& to = memory(1, size);
    receive(1, to, {0});
    send(0, from, 1);
    EXPECT_EQ(wait(1, to, kReceive), 0);
    EXPECT_EQ(from.bytes, to.bytes);
    EXPECT_EQ(wait(0, from, kSend), 1);
  }
}

// What is complete first is the first that was begun, also if a shorter one overtakes it.
TEST_F(GroupTest, MessagesOfOneBufferAreCompleteInOrder) {
  make(2);
  Memory& from = memory(0, kLongSize + kShort, 3);
  Memory& to = memory(1, kLongSize + kShort);
  const auto parts = [](Memory& one) {
    return std::array{std::span(one.bytes).first(kLongSize), std::span(one.bytes).last(kShort)};
  };
  for (int i = 0; i < 20; ++i) {
    std::ranges::fill(to.bytes, std::byte{0});
    for (const auto part : parts(to)) ASSERT_TRUE(group(1).receive(to.buffer, part, {0}, kTag));
    for (const auto part : parts(from)) ASSERT_TRUE(group(0).send(from.buffer, part, 1, kTag));
    ASSERT_EQ(wait(1, to, kReceive), 0);
    ASSERT_TRUE(std::ranges::equal(parts(from)[0], parts(to)[0]));
    ASSERT_EQ(wait(1, to, kReceive), 0);
    ASSERT_EQ(from.bytes, to.bytes);
    ASSERT_EQ(wait(0, from, kSend), 1);
    ASSERT_EQ(wait(0, from, kSend), 1);
  }
}

TEST_F(GroupTest, MessagesThatNobodyAskedForWaitAtTheSender) {
  make(2);
  constexpr unsigned kCount = 20 * kEagerBudget;
  std::vector<Memory*> sent;
  for (unsigned i = 0; i < kCount; ++i) {
    sent.push_back(&memory(0, kShort, i + 1));
    send(0, *sent.back(), 1, i);
  }
  std::jthread sender([&] {
    for (Memory* one : sent) ASSERT_EQ(wait(0, *one, kSend), 1);
  });
  for (unsigned i = kCount; i-- > 0;) {  // the last one first
    Memory& to = memory(1, kShort);
    receive(1, to, {0}, i);
    ASSERT_EQ(wait(1, to, kReceive), 0);
    ASSERT_EQ(to.bytes, sent[i]->bytes);
  }
}

// MSG-39: its memory may be gone as soon as a message is complete, acknowledged or not.
TEST_F(GroupTest, ABufferMayGoAsSoonAsItsMessageIsComplete) {
  make(2, 0.05);
  for (unsigned i = 1; i <= 100; ++i) {
    Memory from(kLongSize, i);
    Memory to(kLongSize);
    receive(1, to, {0});
    send(0, from, 1);
    ASSERT_EQ(wait(1, to, kReceive), 0);
    ASSERT_EQ(from.bytes, to.bytes);
    ASSERT_EQ(wait(0, from, kSend), 1);
    group(0).forget(from.buffer);
    group(1).forget(to.buffer);
  }
}

TEST_F(GroupTest, AMessageOfAnyRankIsReceived) {
  make(3);
  Memory& from = memory(2, kShort, 3);
  Memory& to = memory(0, kShort);
  receive(0, to, {1, 2});
  send(2, from, 0);
  EXPECT_EQ(wait(0, to, kReceive), 2);
  EXPECT_EQ(from.bytes, to.bytes);
}

TEST_F(GroupTest, AWaitCanBeAborted) {
  make(2);
  Memory& to = memory(1, kShort);
  receive(1, to, {0});
  std::jthread other([&] { group(1).abort(to.buffer, kReceive); });
  EXPECT_EQ(wait(1, to, kReceive), -1);
}

TEST_F(GroupTest, AWaitThatTakesTooLongEndsTheGroup) {
  make(3);
  Memory& to = memory(1, kShort);
  Memory& other = memory(2, kShort);
  receive(1, to, {0});
  receive(2, other, {1});
  EXPECT_EQ(error(1, to, kReceive, milliseconds(300)),
            "rank 1 (here) timed out after 300 ms, receiving from rank 0 (here)");
  EXPECT_EQ(error(2, other, kReceive),
            "rank 1 (here) timed out after 300 ms, receiving from rank 0 (here); so says rank 1 "
            "(here)");
  EXPECT_FALSE(group(1).send(to.buffer, to.bytes, 0, kTag));
}

TEST_F(GroupTest, AMessageThatIsTooLongEndsTheGroup) {
  make(2);
  Memory& from = memory(0, kShort + 1, 3);
  Memory& to = memory(1, kShort);
  receive(1, to, {0});
  send(0, from, 1);
  EXPECT_EQ(error(1, to, kReceive), "rank 0 (here) sent 101 bytes where 100 were expected");
}

TEST_F(GroupTest, AMemberThatLeavesEndsOnlyWhatIsExpectedOfIt) {
  make(3);
  Memory& from = memory(0, kShort, 3);
  send(0, from, 1);
  members[0].reset();  // what it sent arrives first
  Memory& to = memory(1, kShort);
  receive(1, to, {0});
  EXPECT_EQ(wait(1, to, kReceive), 0);
  Memory& between = memory(1, kLongSize, 7);
  Memory& other = memory(2, kLongSize);
  send(1, between, 2);
  receive(2, other, {1});
  EXPECT_EQ(wait(2, other, kReceive), 1);
  EXPECT_EQ(between.bytes, other.bytes);
  const auto refused = group(1).send(to.buffer, to.bytes, 0, kTag);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), "rank 0 (here) has left the group");
}

TEST_F(GroupTest, AMemberThatLeavesWhileItIsWaitedForEndsTheGroup) {
  make(2);
  Memory& to = memory(1, kShort);
  receive(1, to, {0});
  members[0].reset();
  EXPECT_EQ(error(1, to, kReceive), "rank 0 (here) has left the group while it was waited for");
}

TEST_F(GroupTest, ABufferThatIsGivenUpEndsTheGroup) {
  make(2);
  Memory& from = memory(0, kLongSize, 3);
  send(0, from, 1);
  group(0).forget(from.buffer);
  Memory& to = memory(1, kLongSize);
  const auto received = group(1).receive(to.buffer, to.bytes, {0}, kTag);
  const std::string why = received ? error(1, to, kReceive) : received.error();
  EXPECT_NE(why, "no error");
}

}  // namespace
}  // namespace openmrc::tagged
