// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/softswitch/packet_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

#include "openmrc/softswitch/test_packets.h"

namespace openmrc::softswitch {
namespace {

Bytes filled(std::size_t size, int with) { return Bytes(size, static_cast<std::byte>(with)); }

TEST(PacketPool, HasSoManyBuffersAndNoMore) {
  PacketPool pool(3);
  const std::set<BufferIndex> taken{pool.take(), pool.take(), pool.take()};
  EXPECT_EQ(taken.size(), 3u);
  EXPECT_FALSE(taken.contains(kNoBuffer));
  EXPECT_EQ(pool.take(), kNoBuffer);
  EXPECT_EQ(pool.in_use(), 3u);
}

TEST(PacketPool, TakesAgainWhatWasGivenBack) {
  PacketPool pool(3);
  const std::set<BufferIndex> taken{pool.take(), pool.take(), pool.take()};
  pool.give_back(*taken.begin());
  EXPECT_EQ(pool.in_use(), 2u);
  EXPECT_EQ(pool.take(), *taken.begin());
  EXPECT_EQ(pool.take(), kNoBuffer);
}

TEST(PacketPool, KeepsPacketsApart) {
  PacketPool pool(3);
  std::array<BufferIndex, 3> buffers{};
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    buffers[i] = pool.take();
    pool.store(buffers[i], filled(kPacketSizeMax, static_cast<int>(i)));
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_TRUE(
        std::ranges::equal(pool.bytes(buffers[i]), filled(kPacketSizeMax, static_cast<int>(i))));
  }
}

TEST(PacketPool, KeepsTheBytesOfWhatWasGivenBack) {
  PacketPool pool(2);
  const BufferIndex buffer = pool.take();
  pool.store(buffer, filled(100, 7));
  const ConstBytes bytes = pool.bytes(buffer);
  pool.give_back(buffer);
  EXPECT_TRUE(std::ranges::equal(bytes, filled(100, 7)));
}

TEST(PacketPool, ShortensPackets) {
  PacketPool pool(1);
  const BufferIndex buffer = pool.take();
  pool.store(buffer, filled(100, 7));
  pool.shorten(buffer, 60);
  EXPECT_EQ(pool.size(buffer), 60u);
  EXPECT_TRUE(std::ranges::equal(pool.bytes(buffer), filled(60, 7)));
}

// A queue of three packets with 100, 101 and 102 bytes.
class PacketQueueTest : public testing::Test {
 protected:
  PacketQueueTest() {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      buffers_[i] = pool_.take();
      pool_.store(buffers_[i], filled(100 + i, 1));
      queue_.push(pool_, buffers_[i]);
    }
  }

  PacketPool pool_{4};
  PacketQueue queue_;
  std::array<BufferIndex, 3> buffers_{};
};

TEST_F(PacketQueueTest, IsFirstInFirstOut) {
  EXPECT_EQ(queue_.pop(pool_), buffers_[0]);
  EXPECT_EQ(queue_.pop(pool_), buffers_[1]);
  queue_.push(pool_, buffers_[0]);
  EXPECT_EQ(queue_.pop(pool_), buffers_[2]);
  EXPECT_EQ(queue_.pop(pool_), buffers_[0]);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(PacketQueueTest, KnowsWhatIsInIt) {
  EXPECT_EQ(queue_.bytes(), 303u);
  EXPECT_EQ(queue_.packets(), 3u);
  queue_.pop(pool_);
  EXPECT_EQ(queue_.bytes(), 203u);
  EXPECT_EQ(queue_.packets(), 2u);
}

TEST_F(PacketQueueTest, CanBeUsedAgainAfterItWasEmpty) {
  while (!queue_.empty()) queue_.pop(pool_);
  EXPECT_EQ(queue_.bytes(), 0u);
  EXPECT_EQ(queue_.packets(), 0u);
  queue_.push(pool_, buffers_[1]);
  EXPECT_EQ(queue_.bytes(), 101u);
  EXPECT_EQ(queue_.pop(pool_), buffers_[1]);
  EXPECT_TRUE(queue_.empty());
}

}  // namespace
}  // namespace openmrc::softswitch
