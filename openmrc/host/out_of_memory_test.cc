// SPDX-License-Identifier: BSD-3-Clause
// Calls that get no memory fail and change nothing; what is connected goes on without.
#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "openmrc/host/test_host.h"
#include "tests/support/memory_limit.h"

namespace openmrc::host {
namespace {

using test::MemoryLimit;
using test::with_ever_more_memory;

constexpr std::size_t kObjectsMax = 4;

Config small_config() {
  Config config = loopback_config(Progress::kSleep);
  config.transport.limits.queue_pairs = kObjectsMax;
  return config;
}

template <class Call>
void without_throwing(Call call) {
  try {
    call();
  } catch (const std::bad_alloc&) {
  }
}

TEST(OutOfMemory, NoQueuePairIsLostThatCouldNotBeMade) {
  Side side(small_config());
  std::vector<std::unique_ptr<QueuePair>> made;
  while (made.size() < kObjectsMax) {
    std::unique_ptr<QueuePair> one;
    EXPECT_GT(
        with_ever_more_memory([&] { without_throwing([&] { one = side.make_queue_pair(); }); }), 0);
    ASSERT_TRUE(one);
    made.push_back(std::move(one));
  }
  EXPECT_FALSE(side.host->create_queue_pair({.writes = side.queue.get()})) << "that is the limit";
}

TEST(OutOfMemory, NoRegionIsLeftBehindThatNobodyOwns) {
  Side side(small_config());
  std::unique_ptr<MemoryRegion> region;
  EXPECT_GT(
      with_ever_more_memory([&] {
        without_throwing([&] { region = std::move(*side.host->register_memory(side.memory)); });
      }),
      0);
  ASSERT_TRUE(region);
  EXPECT_NE(region->remote().rkey, 0U);
}

TEST(OutOfMemory, AConnectionThatFailedCanBeMadeAgain) {
  Side to(small_config());
  Side from(small_config());
  auto sender = from.make_queue_pair();
  auto receiver = to.make_queue_pair();
  const ConnectionInfo info = receiver->connection_info();
  bool connected = false;
  EXPECT_GT(with_ever_more_memory([&] {
              without_throwing([&] {
                (void)sender->to_reset();
                connected = sender->connect(info).has_value();
              });
            }),
            0);
  ASSERT_TRUE(connected);
  ASSERT_TRUE(receiver->connect(sender->connection_info()));
  expect_writes(from, *sender, to, 3);
}

TEST(OutOfMemory, WhatIsRefusedIsNotPosted) {
  Side to(small_config());
  Side from(small_config());
  auto sender = from.make_queue_pair();
  auto receiver = to.make_queue_pair();
  connect(*sender, *receiver);
  constexpr std::size_t kPosts = 100;
  std::size_t posted = 0;
  for (std::size_t i = 0; i < kPosts; ++i) {
    const MemoryLimit limit(0);
    if (receiver->post_receive(i)) ++posted;
  }
  EXPECT_LT(posted, kPosts) << "there was memory";
  for (std::size_t i = posted; i < kPosts; ++i) ASSERT_TRUE(receiver->post_receive(i));
  for (std::size_t i = 0; i < kPosts; ++i)
    ASSERT_TRUE(sender->post_write({.id = i, .immediate = 1}));
  EXPECT_EQ(wait_for(*to.queue, kPosts).size(), kPosts);
}

// All threads of the process, also the shards' own. A machine that stalls has paths suspected, and
// each needs a record; packets and messages need nothing.
TEST(OutOfMemory, WhatIsConnectedAndHasRunGoesOnWithHardlyAnyMemory) {
  Side to(loopback_config(Progress::kSleep));
  Side from(loopback_config(Progress::kSleep));
  auto sender = from.make_queue_pair();
  auto receiver = to.make_queue_pair();
  connect(*sender, *receiver);
  expect_writes(from, *sender, to, 20);
  constexpr std::int64_t kForSuspectedPaths = 16;
  const MemoryLimit limit(kForSuspectedPaths, MemoryLimit::Of::kProcess);
  expect_writes(from, *sender, to, 200);
}

}  // namespace
}  // namespace openmrc::host
