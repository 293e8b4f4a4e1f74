// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/datagram_queue_pair.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "openmrc/host/test_host.h"

namespace openmrc::host {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// Keeps what arrives, for a test that waits for it.
class Inbox final : public DatagramSink {
 public:
  struct Message {
    std::string text;
    wire::Ipv6Address source;
    Qpn source_qp;
    std::optional<std::uint32_t> immediate;
  };

  void on_datagram(const Datagram& datagram) override {
    const std::lock_guard lock(mutex_);
    messages_.push_back(
        {{reinterpret_cast<const char*>(datagram.payload.data()), datagram.payload.size()},
         datagram.source,
         datagram.source_qp,
         datagram.immediate});
    arrived_.notify_all();
  }
  // All of them, once there are so many or 10 s have passed.
  std::vector<Message> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, std::chrono::seconds(10), [&] { return messages_.size() >= count; });
    return messages_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Message> messages_;
};

// A host on the loopback interface with one datagram queue pair.
struct End {
  explicit End(const Config& config, const DatagramOptions& options = {}) : side(config) {
    auto made = side.host->create_datagram_queue_pair(inbox, options);
    if (!made) throw std::runtime_error(to_string(made.error()));
    queue_pair = std::move(*made);
    queue_pair->set_qkey(kKey);
  }
  [[nodiscard]] Destination where() const {
    Destination here{.name = "here"};
    for (const datapath::Port& port : side.host->config().ports) {
      here.addresses.push_back(port.address);
    }
    return here;
  }
  Result<void, PostError> send(const End& to, std::string_view text,
                               std::optional<std::uint32_t> immediate = std::nullopt) {
    const std::array pieces{bytes_of(text)};
    return queue_pair->send(to.where(), to.queue_pair->number(), kKey, immediate, pieces);
  }
  [[nodiscard]] std::uint64_t count(core::Count count) const {
    return side.host->counters().of(count);
  }
  void wait_for(core::Count what, std::uint64_t least) const {
    for (int tries = 0; count(what) < least && tries < 1000; ++tries) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_GE(count(what), least) << core::describe(what).name;
  }

  static constexpr std::uint32_t kKey = 0x1234;
  Side side;
  Inbox inbox;
  std::unique_ptr<DatagramQueuePair> queue_pair;
};

Config over_ipv4() {
  Config config = loopback_config(Progress::kSleep);
  config.ports[0].address = wire::mapped(wire::Ipv4Address(0x7f00'0001));
  return config;
}

// UD-4, UD-7
TEST(DatagramQueuePair, TwoHostsTalk) {
  for (const Config& config : {loopback_config(Progress::kSleep), over_ipv4()}) {
    End a(config);
    End b(config);
    const std::array pieces{bytes_of("hello, "), bytes_of("world")};
    ASSERT_TRUE(a.queue_pair->send(b.where(), b.queue_pair->number(), End::kKey, 7, pieces));
    const auto at_b = b.inbox.wait_for(1);
    ASSERT_EQ(at_b.size(), 1u);
    EXPECT_EQ(at_b[0].text, "hello, world");
    EXPECT_EQ(at_b[0].source, config.ports[0].address);
    EXPECT_EQ(at_b[0].source_qp, a.queue_pair->number());
    EXPECT_EQ(at_b[0].immediate, 7u);
    // Back to where it says it comes from.
    const Destination back{.name = "there", .addresses = {at_b[0].source}};
    ASSERT_TRUE(b.queue_pair->send(back, at_b[0].source_qp, End::kKey, {}, {}));
    const auto at_a = a.inbox.wait_for(1);
    ASSERT_EQ(at_a.size(), 1u);
    EXPECT_EQ(at_a[0].text, "");
    EXPECT_EQ(at_a[0].immediate, std::nullopt);
  }
}

// UD-5
TEST(DatagramQueuePair, CarriesAsManyBytesAsTheMtuAndNoMore) {
  End a(loopback_config(Progress::kSleep));
  End b(loopback_config(Progress::kSleep));
  const std::string full(a.queue_pair->mtu(), 'x');
  ASSERT_TRUE(a.send(b, full));
  const auto got = b.inbox.wait_for(1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].text, full);
  EXPECT_EQ(a.send(b, full + "x"), failure(PostError::kTooLong));
}

// UD-4
TEST(DatagramQueuePair, AnotherKeyIsCountedAndNotDelivered) {
  End a(loopback_config(Progress::kSleep));
  End b(loopback_config(Progress::kSleep));
  b.queue_pair->set_qkey(End::kKey + 1);
  ASSERT_TRUE(a.send(b, "wrong"));
  b.wait_for(core::Count::kDropQKey, 1);
  b.queue_pair->set_qkey(End::kKey);
  ASSERT_TRUE(a.send(b, "right"));
  const auto got = b.inbox.wait_for(1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].text, "right");
}

// UD-3: the numbers say whose a packet is, as for connections.
TEST(DatagramQueuePair, EachShardGetsItsOwn) {
  constexpr std::size_t kShards = 4;
  End from(loopback_config(Progress::kSleep));
  Side to(loopback_config(Progress::kSleep, kShards));
  const Destination there{.name = "there", .addresses = {kLoopback}};
  std::vector<std::unique_ptr<Inbox>> inboxes;
  std::vector<std::unique_ptr<DatagramQueuePair>> queue_pairs;
  for (std::size_t i = 0; i < kShards; ++i) {
    inboxes.push_back(std::make_unique<Inbox>());
    queue_pairs.push_back(
        std::move(*to.host->create_datagram_queue_pair(*inboxes.back(), {.shard = i})));
    const std::string text = std::to_string(i);
    const std::array pieces{bytes_of(text)};
    ASSERT_TRUE(from.queue_pair->send(there, queue_pairs.back()->number(), 0, {}, pieces));
  }
  for (std::size_t i = 0; i < kShards; ++i) {
    const auto got = inboxes[i]->wait_for(1);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].text, std::to_string(i));
  }
}

// UD-11
TEST(DatagramQueuePair, OnceItIsGoneNothingIsDelivered) {
  End a(loopback_config(Progress::kSleep));
  End b(loopback_config(Progress::kSleep));
  const Qpn number = b.queue_pair->number();
  b.queue_pair.reset();
  const std::array pieces{bytes_of("late")};
  ASSERT_TRUE(a.queue_pair->send(b.where(), number, End::kKey, {}, pieces));
  b.wait_for(core::Count::kDropNoQueuePair, 1);
  EXPECT_TRUE(b.inbox.wait_for(0).empty());
}

// UD-6, UD-10
TEST(DatagramQueuePair, SaysWhatCannotBeSent) {
  End a(loopback_config(Progress::kSleep));
  End b(loopback_config(Progress::kSleep));
  EXPECT_EQ(a.queue_pair->send({}, b.queue_pair->number(), 0, {}, {}),
            failure(PostError::kDestination));
  const auto refused = a.side.host->create_datagram_queue_pair(a.inbox, {.send_queue = 1u << 20});
  ASSERT_FALSE(refused);
  EXPECT_NE(to_string(refused.error()).find("1048576 datagrams"), std::string::npos);
  a.side.host->set_port_enabled(Plane(0), false);
  ASSERT_TRUE(a.send(b, "nowhere"));
  a.wait_for(core::Count::kDropDatagramNoPort, 1);
}

// Datagrams and writes share a shard and do not disturb each other.
TEST(DatagramQueuePair, WorksBesideConnections) {
  End a(loopback_config(Progress::kSleep), {.send_queue = 256});
  End b(loopback_config(Progress::kSleep));
  const auto sender = a.side.make_queue_pair();
  const auto receiver = b.side.make_queue_pair();
  connect(*sender, *receiver);
  std::thread talker([&] {
    for (int i = 0; i < 100; ++i) (void)a.send(b, "in between");
  });
  expect_writes(a.side, *sender, b.side, 16);
  talker.join();
  EXPECT_GE(b.inbox.wait_for(1).size(), 1u);
}

}  // namespace
}  // namespace openmrc::host
